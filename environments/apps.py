"""Application configuration."""

from django.apps import AppConfig


class EnvironmentsConfig(AppConfig):
    """Tasks and suites, and the worlds they are in."""

    name = "environments"
