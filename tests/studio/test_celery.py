import subprocess
import sys

import psutil

MANAGER = """
import os, time
from celery.signals import beat_embedded_init
import studio.celery

clock = os.fork()
if clock:
    os.waitpid(clock, 0)
beat_embedded_init.send(sender=None)
print(os.getpid(), flush=True)
time.sleep(60)
"""


def test_the_clock_does_not_outlive_a_manager_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", MANAGER], stdout=subprocess.PIPE, text=True
    ) as manager:
        assert manager.stdout
        clock = psutil.Process(int(manager.stdout.readline()))
        assert clock.ppid() == manager.pid

        manager.kill()

    psutil.wait_procs([clock], timeout=10)
    assert not clock.is_running() or clock.status() == psutil.STATUS_ZOMBIE
