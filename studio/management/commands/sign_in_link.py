"""``manage.py sign_in_link``: another way in, for who has lost the first."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.accounts import administrator_ensure, sign_in_link_create


class Command(BaseCommand):
    """Prints a link that signs somebody in, once."""

    help = "Print a link that signs a user in, once and within twelve hours."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "username", nargs="?", help="the first administrator if none"
        )
        parser.add_argument(
            "--address", default="", help="such as http://127.0.0.1:8000"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the link."""
        name = options["username"]
        try:
            user = User.objects.get(username=name) if name else administrator_ensure()
        except User.DoesNotExist as error:
            raise CommandError(f"there is no user {name!r}") from error
        address = options["address"].rstrip("/")
        self.stdout.write(address + sign_in_link_create(user=user))
        if not address:
            self.stderr.write("Put it after the studio's address, or give --address.")
