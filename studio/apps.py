"""Application configuration."""

from django.apps import AppConfig


class StudioConfig(AppConfig):
    """The project itself: accounts, tokens, pages."""

    name = "studio"

    def ready(self) -> None:
        """Register the system checks, and the Celery app that tasks are sent by."""
        from studio import celery, checks  # noqa: F401
