"""A real studio in a folder of its own: started, asked, killed in parts, and ended."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil

from studio.common.process import die_with_parent, kill_marked, marked_with
from studio.supervisor.fleet import MARK

REPOSITORY = Path(__file__).parents[2]
ARTEFACTS = REPOSITORY / "artefacts" / "e2e"
MOMENT_S = 120
"""For anything that a page does by itself, on a machine that builds something else."""
PATIENCE_S = 600
"""For anything that ends by itself; a machine that builds something else is slow."""

SETTLE_IN = """
from django.contrib.auth.models import User
from studio.accounts import administrator_ensure
from studio.tokens import token_create

admin = administrator_ensure()
mallory = User.objects.create_user("mallory")
print("admin", token_create(owner=admin, name="e2e")[1])
print("mallory", token_create(owner=mallory, name="e2e")[1])
"""
"""There is no page for accounts."""

T = TypeVar("T")


def wait_for(
    condition: Callable[[], T],
    *,
    what: str,
    timeout_s: float = PATIENCE_S,
    pause: Callable[[float], object] = time.sleep,
) -> T:
    """Return the condition's first true value."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := condition():
            return value
        pause(0.1)
    raise AssertionError(f"waited {timeout_s:.0f} s in vain: {what}")


class Studio:
    """``manage.py up`` as a child, with everything that it starts."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.output = home / "up.log"
        self.address = f"http://127.0.0.1:{_free_port()}"
        self.keys: dict[str, str] = {}
        """Tokens of ``admin`` and ``mallory``, made by ``settle_in``."""
        port = self.address.rpartition(":")[2]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", port],
                cwd=REPOSITORY,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,
            )

    @property
    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "OCHE_HOME": str(self.home),
            "DJANGO_SETTINGS_MODULE": "studio.settings.base",
            "OCHE_SLOTS": "4",
        }

    # -- What it says ----------------------------------------------------------------

    def said(self) -> str:
        """Return what the terminal shows."""
        return self.output.read_text()

    @property
    def sign_in_link(self) -> str:
        """Return the one-time link that it greets its user with."""
        link = re.search(rf"{self.address}/sign-in/\S+", self.said())
        assert link, self.said()
        return link[0]

    def wait_until_ready(self) -> None:
        """Wait until every process of it is there."""

        def is_ready() -> bool:
            assert self.process.poll() is None, self.said()
            return "Everything is running" in self.said()

        wait_for(is_ready, what="the studio is ready")

    def manage(self, *arguments: str) -> str:
        """Run a command beside it."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=REPOSITORY,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def settle_in(self) -> None:
        """Make a second user, and tokens for both."""
        lines = self.manage("shell", "--no-imports", "-c", SETTLE_IN).splitlines()
        self.keys = dict(line.split(" ", 1) for line in lines)

    # -- Asking it -------------------------------------------------------------------

    def api(self, user: str = "admin", *, key: str | None = None) -> httpx.Client:
        """Return a client of the REST API in somebody's name."""
        return httpx.Client(
            base_url=f"{self.address}/api/v1",
            headers={"Authorization": f"Bearer {key or self.keys[user]}"},
            timeout=60,
        )

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """Read its database, for what the API does not tell."""
        path = f"file:{self.home / 'db.sqlite3'}?mode=ro"
        with sqlite3.connect(path, uri=True, timeout=30) as database:
            found = database.execute(query, values).fetchall()
        database.close()
        return found

    # -- Its processes ---------------------------------------------------------------

    def find(self, *words: str) -> psutil.Process | None:
        """Return the process of it that has these words in its command line."""
        for process in psutil.Process(self.process.pid).children(recursive=True):
            try:
                line = " ".join(process.cmdline())
            except psutil.Error:
                continue
            if all(word in line for word in words):
                return process
        return None

    def kill(self, *words: str) -> int:
        """Kill a process of it, which gets no chance to say anything."""
        process = wait_for(lambda: self.find(*words), what=f"{words} is there")
        process.send_signal(signal.SIGKILL)
        return process.pid

    def stop(self) -> list[str]:
        """End it as Ctrl-C does, and return the command lines of what is left."""
        began = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGINT)
        exit_code = self.process.wait(timeout=120)
        assert exit_code == 0, self.said()[-3000:]
        # Some rename themselves, and with that their environment and its mark are gone.
        return [
            *filter(None, map(_line_of, {*began, *marked_with(MARK, str(self.home))}))
        ]

    def destroy(self) -> None:
        """Leave nothing, however it went; keep what it said."""
        self.process.kill()
        self.process.wait()
        kill_marked(MARK, str(self.home))
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.output, ARTEFACTS / "studio.log")
        shutil.rmtree(self.home, ignore_errors=True)


def _line_of(process: psutil.Process) -> str:
    """Return the command line of a process, nothing if it is dead or a zombie."""
    try:
        return " ".join(process.cmdline()) if process.is_running() else ""
    except psutil.NoSuchProcess:
        return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
