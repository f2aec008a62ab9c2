"""``manage.py up``: a whole studio on this machine, until Ctrl-C."""

import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.launch import Studio, open_studio
from studio.supervisor.lock import HomeIsTaken
from studio.supervisor.ports import PortTaken
from studio.supervisor.redis_server import NoRedisServer
from training.errors import TrainingError
from training.services.quickstart import quickstart_start


class Command(BaseCommand):
    """Starts every process, keeps it alive, and ends all of them together."""

    help = "Start the studio: pages, workers, trainer, Redis. Ctrl-C ends all of it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--port", type=int, help="8000, or the next free one, when left out"
        )
        parser.add_argument(
            "--quickstart",
            action="store_true",
            help="also start the quickstart run, if it was not started before",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Open the studio and stay until it is closed."""
        try:
            with open_studio(
                port=options["port"], terminal=sys.stdout, say=self.stdout.write
            ) as studio:
                self._run(studio, is_quickstart=options["quickstart"])
        except (HomeIsTaken, PortTaken, NoRedisServer) as error:
            raise CommandError(str(error)) from error

    def _run(self, studio: Studio, *, is_quickstart: bool) -> None:
        started = time.monotonic()
        self.stdout.write("Starting the studio; it takes about 15 seconds.")

        def greet(name: str) -> None:
            if name == "web":
                self._banner(studio)
            if studio.supervisor.is_all_ready:
                seconds = time.monotonic() - started
                self.stdout.write(f"Everything is running after {seconds:.1f} s.")
                if is_quickstart:
                    self._start_quickstart()

        studio.supervisor.run(on_ready=greet)

    def _start_quickstart(self) -> None:
        try:
            quickstart_start()
        except TrainingError as error:
            # The studio is of use without it.
            self.stdout.write(f"The quickstart run could not start: {error}.")

    def _banner(self, studio: Studio) -> None:
        self.stdout.write(
            f"\n  Oche is at {studio.address}/\n"
            f"  Sign in, once, as the administrator:\n"
            f"      {studio.sign_in_address()}\n"
            f"  Everything is kept in {settings.OCHE_HOME}. Ctrl-C ends the studio.\n"
        )
