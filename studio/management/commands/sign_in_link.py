"""``manage.py sign_in_link``: a way in for whoever has a shell on this machine."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from studio.accounts import administrator_ensure, sign_in_link_create


class Command(BaseCommand):
    """Make a link that signs the administrator in once, print it, and nothing else."""

    help = "Print a link that signs the administrator in once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Ask where the pages are."""
        parser.add_argument(
            "--address", default="", help="such as http://127.0.0.1:8000"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it."""
        path = sign_in_link_create(user=administrator_ensure())
        self.stdout.write(options["address"].rstrip("/") + path)
