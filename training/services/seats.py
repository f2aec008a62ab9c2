"""Who sits where: what this process's slots play now, and what they have played."""

import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

from environments.workers import SlotActivity, SlotEntry
from training.models import Trajectory
from training.rollouts.clock import PhaseClock
from training.rollouts.types import BREAKING, FaultCode

MINUTE_S: Final = 60.0
ACTIVITIES: Final[dict[str, SlotActivity]] = {
    "reset": "reset",
    "model": "model",
    "acting": "acting",
    "evaluating": "evaluating",
}
"""Phase of an episode -> what its slot does; before the first it is set up."""


@dataclass(kw_only=True, slots=True)
class Seat:
    """Where an episode is played, as soon as that is known, and how far it is."""

    trajectory: Trajectory
    slot: str = ""
    step: int = 0
    clock: PhaseClock = field(default_factory=PhaseClock)

    def enter(self, phase: str, step: int) -> None:
        """Begin a phase of the episode."""
        self.step = step
        self.clock.enter(phase)

    def entry(self) -> SlotEntry:
        """Return what the slot does now."""
        row = self.trajectory
        return SlotEntry(
            slot=self.slot,
            state=ACTIVITIES.get(self.clock.phase, "building"),
            for_s=round(self.clock.for_s, 2),
            task=str(row.task),
            backend=row.task.backend,
            run_id=str(row.run_id or ""),
            evaluation_id=str(row.evaluation_id or ""),
            trajectory_id=str(row.pk),
            owner_id=row.owner_id,
            step=self.step,
            max_steps=row.step_limit,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """What befell an episode."""

    code: FaultCode
    trajectory: Trajectory
    slot: str
    """Empty if it was lost before it had one."""


class Seats:
    """The seats of one process; written by the episodes, read by who announces them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[str, Seat] = {}
        self._left_at: dict[str, float] = {}
        self._num_episodes: Counter[str] = Counter()
        self._num_restarts: Counter[str] = Counter()
        self._ended_at: deque[float] = deque()
        self._faults: list[Fault] = []
        self._last_error = ""
        self._last_error_at = time.monotonic()

    def sit(self, seat: Seat, slot: str) -> None:
        """Put an episode into a slot."""
        with self._lock:
            seat.slot = slot
            self._taken[slot] = seat

    def rise(self, seat: Seat) -> None:
        """Free a slot: its episode is over, however it ended."""
        now = time.monotonic()
        with self._lock:
            seat.clock.stop()
            self._taken.pop(seat.slot, None)
            self._left_at[seat.slot] = now
            self._num_episodes[seat.slot] += 1
            self._ended_at.append(now)

    def fault(self, seat: Seat, code: FaultCode, detail: str) -> None:
        """Note what befell an episode."""
        with self._lock:
            # The pool throws a world away that broke, and builds the slot's next anew.
            self._num_restarts[seat.slot] += bool(seat.slot) and code in BREAKING
            self._faults.append(
                Fault(code=code, trajectory=seat.trajectory, slot=seat.slot)
            )
            self._last_error = f"{code}: {detail}"[:300]
            self._last_error_at = time.monotonic()

    def entry(self, slot: str) -> SlotEntry:
        """Return what a slot does."""
        with self._lock:
            seat = self._taken.get(slot)
            entry = seat.entry() if seat else self._idle(slot)
            counts = {
                "num_episodes": self._num_episodes[slot],
                "num_restarts": self._num_restarts[slot],
            }
        return entry.model_copy(update=counts)

    def num_ended_lately(self) -> int:
        """Return how many episodes ended within the last minute."""
        oldest = time.monotonic() - MINUTE_S
        with self._lock:
            while self._ended_at and self._ended_at[0] < oldest:
                self._ended_at.popleft()
            return len(self._ended_at)

    def last_error(self) -> tuple[str, float]:
        """Return the latest fault, and how many seconds ago it was."""
        with self._lock:
            return self._last_error, round(time.monotonic() - self._last_error_at, 1)

    def take_faults(self) -> list[Fault]:
        """Return the faults since the last call."""
        with self._lock:
            faults, self._faults = self._faults, []
        return faults

    def _idle(self, slot: str) -> SlotEntry:
        left_at = self._left_at.setdefault(slot, time.monotonic())
        return SlotEntry(slot=slot, for_s=round(time.monotonic() - left_at, 2))


SEATS: Final = Seats()
"""This process's seats."""
