"""``manage.py quickstart``: the quickstart run without a browser, measured."""

import dataclasses
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from studio.accounts import administrator_ensure
from studio.launch import open_studio
from studio.supervisor.lock import HomeIsTaken
from studio.supervisor.ports import PortTaken
from studio.supervisor.redis_server import NoRedisServer
from training.services.quickstart import Measurement, QuickstartReport, quickstart_start


class Command(BaseCommand):
    """Starts the run; with ``--wait`` measures before and after and reports."""

    help = "Start the quickstart run; --wait measures it and brings the services up."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--wait", action="store_true", help="until all is measured")
        parser.add_argument("--json", action="store_true", help="end with a JSON line")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--port", type=int, help="of the pages, where none runs yet"
        )
        parser.add_argument("--episodes", type=int, default=200, help="per measurement")
        parser.add_argument(
            "--no-ceiling", action="store_true", help="leave the comparison out"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, and wait if asked."""
        if not options["wait"]:
            run = quickstart_start(owner=administrator_ensure(), seed=options["seed"])
            self.stdout.write(f"Run {run.pk} is queued.")
            return
        work = _Work(options, self._say)
        try:
            with open_studio(
                port=options["port"], terminal=None, say=self._say
            ) as studio:
                self._say("Starts the services; it takes about 15 seconds.")
                work.start_when(lambda: studio.supervisor.is_all_ready)
                studio.supervisor.run(until=lambda: work.is_over)
                work.told_to_end.set()
                work.join()
        except HomeIsTaken:
            self._say("Uses the studio that runs already.")
            work.measure()
        except (PortTaken, NoRedisServer) as error:
            raise CommandError(str(error)) from error
        self._report(work, is_json=options["json"])

    def _report(self, work: "_Work", *, is_json: bool) -> None:
        if work.error is not None:
            raise CommandError(str(work.error)) from work.error
        if work.report is None:
            raise CommandError("it was told to end")
        values = dataclasses.asdict(work.report)
        if is_json:
            self.stdout.write(json.dumps(values))
            return
        for name, value in values.items():
            self.stdout.write(f"{name}: {value}")

    def _say(self, text: str) -> None:
        self.stderr.write(text)


class _Work:
    """The measurement, in a thread beside the supervisor, which wants the main one."""

    def __init__(self, options: dict[str, Any], say: Callable[[str], None]) -> None:
        self.told_to_end = threading.Event()
        self.report: QuickstartReport | None = None
        self.error: Exception | None = None
        self._options = options
        self._say = say
        self._began = time.monotonic()
        self._thread: threading.Thread | None = None

    @property
    def is_over(self) -> bool:
        """Return whether there is nothing left to do."""
        return self._thread is not None and not self._thread.is_alive()

    def start_when(self, is_ready: Callable[[], bool]) -> None:
        """Begin once the services are there."""

        def wait_and_measure() -> None:
            while not is_ready():
                if self.told_to_end.wait(0.1):
                    return
            self.measure()

        self._thread = threading.Thread(target=wait_and_measure, name="quickstart")
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join()

    def measure(self) -> None:
        """Do it all, and keep what came of it."""
        try:
            self.report = Measurement(
                owner=administrator_ensure(),
                say=self._say,
                seed=self._options["seed"],
                num_episodes=self._options["episodes"],
                with_ceiling=not self._options["no_ceiling"],
                began=self._began,
                should_end=self.told_to_end.is_set,
            ).run()
        except Exception as error:  # noqa: BLE001 - raised again in the main thread
            self.error = error
        finally:
            connection.close()
