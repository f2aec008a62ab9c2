import os
import subprocess
import sys
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]

CODE = """
    import os, subprocess, sys, time
    import studio.supervisor.orphans as module
    from studio.supervisor.orphans import Orphans
    import psutil

    module.LOOK_EVERY_S, module.PATIENCE_S = 0.1, 0.5
    orphans = Orphans(("OCHE_TEST_MARK", "orphans"))
    # A child that leaves ten behind, which end at once.
    subprocess.run(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1 & done"])
    time.sleep(0.5)
    own = subprocess.Popen(["sh", "-c", "exit 3"])
    print(len(psutil.Process().children()))
    deadline = time.monotonic() + 0.4
    while time.monotonic() < deadline:
        orphans.bury({own.pid})
        time.sleep(0.05)
    print(len(psutil.Process().children()))
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        orphans.bury({own.pid})
        time.sleep(0.05)
    print(len(psutil.Process().children()), own.wait())
"""


def test_the_dead_are_buried_unless_somebody_waits_for_them():
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CODE)],
        cwd=REPOSITORY,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert result.stdout.split("\n")[:3] == ["11", "11", "1 3"]
