import subprocess
import sys

from studio.common.usage import UsageMeter


def test_a_tree_counts_what_it_started(tmp_path):
    code = "x = bytearray(60_000_000); print(1, flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    child.stdout.readline()
    meter = UsageMeter(tmp_path)

    with_child = meter.tree()
    child.communicate(b"\n")
    alone = meter.tree()

    assert with_child.children_bytes > 60_000_000
    assert alone.children_bytes < 60_000_000
    assert alone.own_bytes > 10_000_000


def test_a_machine_has_no_more_than_all_of_itself(tmp_path):
    machine = UsageMeter(tmp_path).machine()

    assert machine.num_cpus >= 1
    assert 0 < machine.memory_bytes < machine.memory_total_bytes
    assert 0 < machine.disk_bytes <= machine.disk_total_bytes
    assert 0 <= machine.cpu_percent <= 100
