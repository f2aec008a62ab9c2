"""``manage.py tasks_sync``: the catalogue as the backends describe it."""

from typing import Any

from django.core.management.base import BaseCommand

from environments.services.tasks import tasks_sync


class Command(BaseCommand):
    """Makes the rows of suites and tasks; does nothing the second time."""

    help = "Bring the rows of suites and tasks up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        """Sync, and say how many there are."""
        tasks = tasks_sync()
        if options["verbosity"] > 0:
            self.stdout.write(f"{len(tasks)} tasks")
