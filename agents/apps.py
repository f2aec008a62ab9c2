"""Application configuration."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """Policies, and the workers that serve them."""

    name = "agents"
