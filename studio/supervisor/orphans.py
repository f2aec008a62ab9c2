"""Processes whose parents died: the kernel makes them the supervisor's children."""

import contextlib
import os
import time
from collections.abc import Collection

import psutil

from studio.common.process import adopt_orphans, kill_all, tree_of

LOOK_EVERY_S = 2.0
PATIENCE_S = 10.0
"""An ended process that nobody waited for in this time is nobody's."""


class Orphans:
    """Adopts what supervised processes leave behind, kills the living, buries the dead.

    The supervisor's process may have children of its own as well; they lack the mark.
    """

    def __init__(self, mark: tuple[str, str]) -> None:
        """Begin to adopt.

        Args:
            mark: Variable and value in the environment of every supervised process,
                which those that it starts inherit.
        """
        adopt_orphans()
        self._mark = mark
        self._looked_at = 0.0
        self._ended_at: dict[int, float] = {}

    def kill(self, known: Collection[int]) -> None:
        """Kill every marked child but those known, and all that they started."""
        for process in psutil.Process().children():
            if process.pid not in known and self._is_marked(process):
                kill_all(tree_of(process.pid))
                _wait(process.pid)

    def bury(self, known: Collection[int]) -> None:
        """Wait for those that ended a while ago: browsers leave many behind."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY_S:
            return
        self._looked_at = now
        ended = {p.pid for p in psutil.Process().children() if _has_ended(p)}
        self._ended_at = {
            pid: self._ended_at.get(pid, now) for pid in ended - set(known)
        }
        for pid, since in self._ended_at.items():
            if now - since >= PATIENCE_S:
                _wait(pid)

    def _is_marked(self, process: psutil.Process) -> bool:
        name, value = self._mark
        try:
            return bool(process.environ().get(name) == value)
        except (psutil.Error, OSError):
            return False


def _has_ended(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _wait(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
