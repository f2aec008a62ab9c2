import sys
import time
from itertools import pairwise

from studio.supervisor.log import MergedLog
from studio.supervisor.spec import ProcessSpec
from studio.supervisor.supervisor import Supervisor


def test_what_dies_at_once_is_tried_ever_more_seldom(tmp_path):
    births = tmp_path / "births"
    spec = ProcessSpec(
        name="sick",
        command=("/bin/sh", "-c", f"date +%s.%N >> {births}; exit 3"),
    )
    supervisor = Supervisor(
        [spec],
        MergedLog(tmp_path / "log", None),
        mark=("OCHE_TEST_MARK", str(tmp_path)),
    )
    end = time.monotonic() + 4.2

    supervisor.run(until=lambda: time.monotonic() > end)

    times = [float(line) for line in births.read_text().split()]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    for pause, least in zip(pauses, [0.5, 1.0, 2.0], strict=False):
        assert pause >= least
    assert 2 <= len(pauses) <= 3
    assert (
        "sick ended with exit code 3; it starts again in 2 s"
        in (tmp_path / "log").read_text()
    )


def test_who_needs_another_starts_after_it(tmp_path):
    order = tmp_path / "order"
    late = time.monotonic() + 0.6

    def command(name):
        return ("/bin/sh", "-c", f"echo {name} >> {order}; sleep 99")

    specs = [
        ProcessSpec(name="second", command=command("second"), needs="first"),
        ProcessSpec(
            name="first",
            command=command("first"),
            is_ready=lambda pid: time.monotonic() > late,
        ),
    ]
    ready = []
    supervisor = Supervisor(
        specs, MergedLog(tmp_path / "log", None), mark=("OCHE_TEST_MARK", str(tmp_path))
    )

    supervisor.run(on_ready=ready.append, until=lambda: supervisor.is_all_ready)

    assert order.read_text().split() == ["first", "second"]
    assert ready == ["first", "second"]


def test_a_talkative_process_loses_no_line(tmp_path):
    code = "import sys\nfor i in range(20000): print('line', i)\nsys.stdout.flush()"
    spec = ProcessSpec(name="loud", command=(sys.executable, "-c", code))
    supervisor = Supervisor(
        [spec],
        MergedLog(tmp_path / "log", None),
        mark=("OCHE_TEST_MARK", str(tmp_path)),
    )
    log = tmp_path / "log"

    supervisor.run(until=lambda: "ended with" in log.read_text())

    said = [ln for ln in (tmp_path / "log").read_text().splitlines() if "line" in ln]
    assert len(said) == 20000
