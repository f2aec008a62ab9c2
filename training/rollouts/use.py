"""How well a run uses the slots of its cluster: shares of slot-time, quantiles.

Busy is inside an episode and not waiting for the model; occupied is inside an episode
at all. Both are shares of slots × wall time. Pure: no Django, no I/O.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Stay:
    """An episode's stay in a slot; times in seconds, on any common clock."""

    began: float
    occupied_s: float | None
    """None while it is still played."""
    busy_s: float = 0.0
    """Of ``occupied_s``; spread evenly over it."""

    def within(self, since: float, until: float) -> float:
        """Return the seconds of the stay that lie in a window."""
        ended = until if self.occupied_s is None else self.began + self.occupied_s
        return max(0.0, min(ended, until) - max(self.began, since))


@dataclass(frozen=True, kw_only=True, slots=True)
class SlotUse:
    """Shares of slot-time, 0…1."""

    utilization: float
    occupied: float


def slot_use(
    stays: Sequence[Stay], *, since: float, until: float, num_slots: int
) -> SlotUse:
    """Return the shares of a window's slot-time; each stay counts by what lies in it.

    How much of a stay that still goes on is busy will be known at its end: until then
    it counts like the others together.

    Args:
        stays: All that overlap the window; others do no harm.
        since: Where the window begins.
        until: Where it ends, later than ``since``.
        num_slots: All slots that there are, at least 1.
    """
    ended_s = busy_s = going_on_s = 0.0
    for stay in stays:
        inside_s = stay.within(since, until)
        if stay.occupied_s is None:
            going_on_s += inside_s
        elif stay.occupied_s > 0:
            ended_s += inside_s
            busy_s += inside_s * stay.busy_s / stay.occupied_s
    if ended_s:
        busy_s += going_on_s * busy_s / ended_s
    slot_s = num_slots * (until - since)
    # A worker that left meanwhile took its slots along, but not what they had done.
    return SlotUse(
        utilization=min(1.0, busy_s / slot_s),
        occupied=min(1.0, (ended_s + going_on_s) / slot_s),
    )


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed.

    Raises:
        ValueError: If there is no value, or the share is not in (0, 1].
    """
    if not values or not 0 < share <= 1:
        raise ValueError(f"no quantile {share} of {len(values)} values")
    return sorted(values)[math.ceil(share * len(values)) - 1]
