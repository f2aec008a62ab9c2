"""How long an episode spends in each phase; no Django, no I/O."""

import time
from collections.abc import Callable
from typing import Final

WAITING: Final = "model"
"""In this phase the slot waits for an answer; in all others its world works."""


class PhaseClock:
    """Adds up the seconds of each phase, from the first until it is stopped."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._seconds: dict[str, float] = {}
        self.phase = ""
        """The present one; empty before the first."""
        self._since = now()

    def enter(self, phase: str) -> None:
        """Begin a phase, or the same one anew; the one before is over."""
        now = self._now()
        if self.phase:
            spent = now - self._since
            self._seconds[self.phase] = self._seconds.get(self.phase, 0.0) + spent
        self.phase, self._since = phase, now

    def stop(self) -> None:
        """End the present phase; time that passes from now on does not count."""
        self.enter("")

    @property
    def for_s(self) -> float:
        """Return the seconds since the present phase began."""
        return self._now() - self._since

    @property
    def occupied_s(self) -> float:
        """Return the seconds of all phases that are over."""
        return sum(self._seconds.values())

    @property
    def busy_s(self) -> float:
        """Return the seconds in which the world worked, waiting for answers left out."""
        return self.occupied_s - self._seconds.get(WAITING, 0.0)
