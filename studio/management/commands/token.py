"""``manage.py token``: an API token for whoever has a shell on this machine."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.accounts import administrator_ensure
from studio.tokens import token_create


class Command(BaseCommand):
    """Make a token and print its key, and nothing else."""

    help = "Make an API token and print its key, which is never shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Ask whom it speaks for, and what it is for."""
        parser.add_argument("--user", help="user name; the administrator by default")
        parser.add_argument("--name", default="command line", help="what it is for")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it."""
        _, key = token_create(owner=_owner(options["user"]), name=options["name"])
        self.stdout.write(key)


def _owner(name: str | None) -> User:
    if name is None:
        return administrator_ensure()
    try:
        return User.objects.get(username=name, is_active=True)
    except User.DoesNotExist:
        raise CommandError(f"there is no user {name!r}") from None
