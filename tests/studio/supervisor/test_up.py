"""The whole studio, as ``manage.py up`` runs it: real processes, a real Redis."""

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from studio.common.process import kill_marked, marked_with
from studio.supervisor.fleet import MARK

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]
START_TIMEOUT_S = 180
"""Five processes import at once, on a machine that may be busy."""


class Up:
    """A studio in a folder of its own."""

    def __init__(self, home):
        self.home = home
        self.output = home.with_suffix(".log")
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=REPOSITORY,
                env={
                    **{k: v for k, v in os.environ.items() if k != "OCHE_HOME"},
                    "OCHE_HOME": str(home),
                    "DJANGO_SETTINGS_MODULE": "studio.settings.base",
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait_for(self, condition, timeout_s=START_TIMEOUT_S):
        """Return the condition's first true value."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if value := condition():
                return value
            assert self.process.poll() is None, self.said()
            time.sleep(0.1)
        raise AssertionError(self.said())

    def said(self):
        """Return what the terminal shows."""
        return self.output.read_text()

    def pid_of(self, name):
        """Return the process id by which the worker reported that it is ready."""
        return int((self.home / "run" / f"{name}.ready").read_text())


@pytest.fixture
def up(tmp_path):
    """Run a studio until it is ready; end every process of it, whatever happens."""
    studio = Up(tmp_path / "home")
    try:
        studio.wait_for(lambda: "Everything is running" in studio.said())
        yield studio
    finally:
        studio.process.kill()
        studio.process.wait()
        kill_marked(MARK, str(studio.home))


def get(address, path):
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request("GET", path)
    return connection.getresponse()


def test_a_studio_serves_heals_keeps_others_out_and_ends_without_a_trace(up):
    link = re.search(r"http://(127\.0\.0\.1:\d+)(/sign-in/\S+)", up.said())
    address, path = link.groups()
    assert get(address, "/healthz").status == 200
    answer = get(address, path)
    assert answer.headers["Location"] == "/"
    cookies = " ".join(answer.headers.get_all("Set-Cookie"))
    assert f"oche_session_{address.split(':')[1]}=" in cookies

    second = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=REPOSITORY,
        env=psutil.Process(up.process.pid).environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode != 0
    assert f"process {up.process.pid}, http://{address}/" in second.stderr

    worker = up.pid_of("environments")
    os.kill(worker, signal.SIGKILL)
    up.wait_for(lambda: up.pid_of("environments") != worker)

    up.process.terminate()
    assert up.process.wait(timeout=60) == 0
    left = [p.cmdline() for p in marked_with(MARK, str(up.home))]
    assert left == []
