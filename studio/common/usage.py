"""What processes and the machine use: memory, processor, disk; no Django."""

import contextlib
import os
import time
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

from studio.common.process import tree_of


class MachineUsage(BaseModel):
    """A machine at one moment."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    num_cpus: int
    cpu_percent: float
    """Of all processors, since the look before."""
    memory_bytes: int
    memory_total_bytes: int
    disk_bytes: int
    disk_total_bytes: int
    """Of the volume that the studio's files are on."""


class TreeUsage(BaseModel):
    """A process and all that it started, at one moment."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    own_bytes: int
    """Resident memory of the process itself."""
    children_bytes: int
    """Memory of what it started, such as browsers; what they share with others is left
    out, or it would count once for each."""
    cpu_percent: float
    """100 is one processor."""


class UsageMeter:
    """Looks at this process's tree and its machine, again and again."""

    def __init__(self, folder: Path, *, pid: int | None = None) -> None:
        """Begin to measure.

        Args:
            folder: Something on the volume whose space is of interest.
            pid: Whose tree; this process's when left out.
        """
        self._folder = folder
        self._pid = pid or os.getpid()
        self._cpu_s: dict[int, float] = {}
        self._looked_at = time.monotonic()
        psutil.cpu_percent()
        self.tree()

    def tree(self) -> TreeUsage:
        """Return what the tree uses; its processor time since the look before."""
        now = time.monotonic()
        bytes_of: dict[int, int] = {}
        cpu_s: dict[int, float] = {}
        for process in tree_of(self._pid):
            with contextlib.suppress(psutil.Error), process.oneshot():
                memory, times = process.memory_info(), process.cpu_times()
                is_own = process.pid == self._pid
                bytes_of[process.pid] = memory.rss - (0 if is_own else memory.shared)
                cpu_s[process.pid] = times.user + times.system
        spent = sum(
            seconds - self._cpu_s.get(pid, 0.0) for pid, seconds in cpu_s.items()
        )
        elapsed = now - self._looked_at
        self._cpu_s, self._looked_at = cpu_s, now
        own = bytes_of.pop(self._pid, 0)
        return TreeUsage(
            own_bytes=own,
            children_bytes=max(0, sum(bytes_of.values())),
            cpu_percent=round(100 * spent / elapsed, 1) if elapsed > 0.05 else 0.0,
        )

    def machine(self) -> MachineUsage:
        """Return what the whole machine uses."""
        memory = psutil.virtual_memory()
        disk = psutil.disk_usage(str(self._folder))
        return MachineUsage(
            num_cpus=psutil.cpu_count() or 1,
            cpu_percent=psutil.cpu_percent(),
            memory_bytes=memory.total - memory.available,
            memory_total_bytes=memory.total,
            disk_bytes=disk.used,
            disk_total_bytes=disk.total,
        )
