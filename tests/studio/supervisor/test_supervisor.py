import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

REPOSITORY = Path(__file__).parents[3]
MARK = "OCHE_TEST_MARK"

SUPERVISE = """
    import sys
    from pathlib import Path
    from studio.supervisor.log import MergedLog
    from studio.supervisor.spec import ProcessSpec
    from studio.supervisor.supervisor import Supervisor

    folder = Path(sys.argv[1])

    def python(code):
        return (sys.executable, "-c", code)

    def has_pid_file(name):
        return lambda pid: (folder / name).exists()

    def note(name):
        return f"import os, pathlib; pathlib.Path({str(folder / name)!r}).write_text(str(os.getpid()));"

    specs = [
        ProcessSpec(
            name="base",
            command=python(note("base") + "print('base is here', flush=True); import time; time.sleep(99)"),
            is_ready=has_pid_file("base"),
        ),
        ProcessSpec(
            name="parent",
            command=python(
                "import subprocess, sys, time;"
                "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'], start_new_session=True);"
                + note("parent") + f"pathlib.Path({str(folder / 'grandchild')!r}).write_text(str(p.pid)); time.sleep(99)"
            ),
            is_ready=has_pid_file("grandchild"),
            needs="base",
        ),
        ProcessSpec(
            name="deaf",
            command=python("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + note("deaf") + "time.sleep(99)"),
            is_ready=has_pid_file("deaf"),
        ),
    ]
    log = MergedLog(folder / "studio.log", None)
    # A child of the supervisor's process that is none of its business.
    import subprocess
    own = subprocess.Popen(["sleep", "99"])
    (folder / "own").write_text(str(own.pid))
    import studio.supervisor.supervisor as module
    module.GRACE_S = 3.0
    Supervisor(specs, log, mark=("OCHE_TEST_MARK", sys.argv[1])).run(on_ready=lambda name: (folder / f"{name}.ready").touch())
"""


def wait_for(condition, timeout_s=15.0):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"not within {timeout_s} s: {condition}")


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def studio(tmp_path):
    """Run a supervisor of three processes; whatever happens, end it all."""
    mark = str(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SUPERVISE), str(tmp_path)],
        cwd=REPOSITORY,
    )
    try:
        names = ("base", "parent", "deaf")
        wait_for(lambda: all((tmp_path / f"{n}.ready").exists() for n in names))
        yield process
    finally:
        from studio.common.process import kill_marked

        process.kill()
        process.wait()
        os.kill(pid_in(tmp_path / "own"), signal.SIGKILL)
        kill_marked(MARK, mark)


def pid_in(file):
    return int(file.read_text())


def test_a_process_that_is_killed_is_started_again(studio, tmp_path):
    first = pid_in(tmp_path / "base")

    os.kill(first, signal.SIGKILL)

    wait_for(lambda: pid_in(tmp_path / "base") != first)
    assert "base was killed by SIGKILL" in (tmp_path / "studio.log").read_text()


def test_what_a_killed_process_started_does_not_live_on(studio, tmp_path):
    grandchild = pid_in(tmp_path / "grandchild")
    assert alive(grandchild)

    os.kill(pid_in(tmp_path / "parent"), signal.SIGKILL)

    wait_for(lambda: not alive(grandchild))
    assert alive(pid_in(tmp_path / "own"))


def test_at_the_end_nothing_is_left_not_even_the_deaf(studio, tmp_path):
    names = ("base", "parent", "grandchild", "deaf")
    pids = [pid_in(tmp_path / name) for name in names]

    studio.terminate()
    studio.wait(timeout=10)

    assert studio.returncode == 0
    assert [pid for pid in pids if alive(pid)] == []


def test_a_second_signal_does_not_wait_for_the_deaf(studio, tmp_path):
    started = time.monotonic()

    studio.send_signal(signal.SIGINT)
    time.sleep(0.3)
    studio.send_signal(signal.SIGINT)
    studio.wait(timeout=10)

    assert time.monotonic() - started < 2.5


def test_when_the_supervisor_is_killed_its_processes_die_too(studio, tmp_path):
    pids = [pid_in(tmp_path / name) for name in ("base", "parent", "deaf")]

    studio.kill()
    studio.wait()

    wait_for(lambda: not any(alive(pid) for pid in pids))


def test_what_processes_say_is_in_the_log_under_their_names(studio, tmp_path):
    lines = (tmp_path / "studio.log").read_text().splitlines()

    assert "base        │ base is here" in lines
