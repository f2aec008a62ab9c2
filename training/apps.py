"""Application configuration."""

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    """Runs, trajectories, data sets, evaluations."""

    name = "training"
