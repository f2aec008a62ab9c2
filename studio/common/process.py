"""Processes that do not outlive their owner, and the killing of whole trees; no Django.

Linux only, as is the rest of the studio.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import Final

import psutil

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
# Loaded here, not in the child: between fork and exec nothing may be imported.
_LIBC: Final = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its owner dies; a ``preexec_fn``.

    The owner is the *thread* that started the process, so start it from one that lives
    as long as it is needed.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make every descendant that loses its parent a child of this process."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def tree_of(pid: int) -> list[psutil.Process]:
    """Return a process and all that it started, itself first; empty when it is gone."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill_all(processes: Iterable[psutil.Process]) -> None:
    """Kill processes; those that are gone already are no matter."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def kill_tree(pid: int) -> None:
    """Kill a process, its group where it leads one, and all that it started, at once."""
    tree = tree_of(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
    kill_all(tree)


def marked_with(name: str, value: str) -> Iterator[psutil.Process]:
    """Yield this user's processes in whose first environment ``name`` is ``value``.

    Children inherit the mark, so it also finds those whose parents are gone.
    """
    own = os.getpid()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != own and process.environ().get(name) == value:
                yield process


def kill_marked(name: str, value: str, *, timeout_s: float = 5.0) -> int:
    """Kill all that are marked, also those that are started meanwhile.

    Returns:
        How many there were.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = [p for p in marked_with(name, value) if p.is_running()]
        alive = [p for p in found if p.status() != psutil.STATUS_ZOMBIE]
        if not alive:
            break
        kill_all(alive)
        killed.update(process.pid for process in alive)
        psutil.wait_procs(alive, timeout=0.2)
    return len(killed)
