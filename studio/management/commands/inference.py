"""``manage.py inference``: become an inference worker of this studio."""

import os
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

SECRET_VARIABLE = "OCHE_INFERENCE_SECRET"  # noqa: S105 - the name, not the secret


class Command(BaseCommand):
    """Replaces itself by ``python -m agents.inference.server``, which knows no Django."""

    help = "Serve policies over HTTP to this studio's environment workers."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        default_id = f"{socket.gethostname()}-{os.getpid()}"
        parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
        parser.add_argument("--worker-id", default=default_id)
        parser.add_argument(
            "--threads", type=int, default=settings.NUM_INFERENCE_THREADS
        )
        parser.add_argument("--max-batch", type=int, default=32)

    def handle(self, *args: Any, **options: Any) -> None:
        """Hand over; the process id stays, so that the supervisor knows its child."""
        # By the environment: the command line of a process is there for all to read.
        os.environ[SECRET_VARIABLE] = settings.INFERENCE_SECRET
        command = [
            *(sys.executable, "-m", "agents.inference.server"),
            *("--port", str(options["port"])),
            *("--worker-id", options["worker_id"]),
            *("--threads", str(options["threads"])),
            *("--max-batch", str(options["max_batch"])),
            *("--redis-url", settings.REDIS_URL),
        ]
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, command)  # noqa: S606 - no shell
