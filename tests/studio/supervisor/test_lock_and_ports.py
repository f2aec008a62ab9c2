import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from studio.supervisor.lock import HomeIsTaken, hold_home
from studio.supervisor.ports import PortTaken, choose_port

REPOSITORY = Path(__file__).parents[3]

HOLD = """
import sys, time
from pathlib import Path
from studio.supervisor.lock import hold_home
with hold_home(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(99)
"""


@pytest.fixture
def holder(tmp_path):
    """Run a process that holds ``tmp_path``."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_the_second_in_a_folder_is_told_who_was_first(holder, tmp_path):
    with pytest.raises(HomeIsTaken, match=f"process {holder.pid}"), hold_home(tmp_path):
        pass


def test_a_folder_is_free_again_when_its_holder_was_killed(holder, tmp_path):
    holder.kill()
    holder.wait()

    with hold_home(tmp_path) as note:
        assert note.read_text() == f"process {os.getpid()}"


def test_another_folder_is_no_obstacle(holder, tmp_path):
    with hold_home(tmp_path / "another"):
        pass


@pytest.fixture
def taken():
    """Listen on some port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_was_asked_for_and_is_taken_is_an_error_with_a_remedy(taken):
    with pytest.raises(PortTaken, match="--port"):
        choose_port(taken)


def test_without_a_wish_the_next_free_port_is_found(taken, monkeypatch):
    monkeypatch.setattr("studio.supervisor.ports.DEFAULT_PORT", taken)

    assert taken < choose_port(None) < taken + 50
