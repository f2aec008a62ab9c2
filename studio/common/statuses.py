"""The status table: how each state of anything looks, always icon and word. No Django."""

from dataclasses import dataclass
from typing import Final, Literal

Role = Literal["quiet", "info", "ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a state is shown."""

    role: Role
    icon: str
    word: str = ""
    """Empty: the state's own name."""


STATUSES: Final[dict[str, Look]] = {
    # Runs, groups, imports and trajectories that wait or are over without a verdict.
    "draft": Look("quiet", "draft"),
    "queued": Look("quiet", "clock"),
    "stopped": Look("quiet", "stopped"),
    "unsolved": Look("quiet", "slash"),
    "cancelled": Look("quiet", "slash"),
    "uploaded": Look("quiet", "up"),
    "dropped": Look("quiet", "slash"),
    "returned": Look("quiet", "sync"),
    "idle": Look("quiet", "draft"),
    "drained": Look("quiet", "paused"),
    "ended": Look("quiet", "stopped"),
    # Under way.
    "starting": Look("info", "half"),
    "checking": Look("info", "half"),
    "writing": Look("info", "half"),
    "running": Look("info", "running"),
    "training": Look("info", "running"),
    "importing": Look("info", "running"),
    "batched": Look("info", "half"),
    "open": Look("info", "half"),
    "infeasible_claimed": Look("info", "flag", "Infeasible claimed"),
    "restarting": Look("info", "sync"),
    "ending": Look("info", "half"),
    # Good.
    "succeeded": Look("ok", "check"),
    "finished": Look("ok", "check"),
    "solved": Look("ok", "check"),
    "ready": Look("ok", "check"),
    "trained": Look("ok", "check"),
    "healthy": Look("ok", "check"),
    # To look at.
    "paused": Look("warn", "paused"),
    "stopping": Look("warn", "half"),
    "draining": Look("warn", "half"),
    "doubled": Look("warn", "warn", "Name is taken"),
    "step_limit": Look("warn", "clock", "Step limit"),
    "parse_error": Look("warn", "warn", "Parse error"),
    "loop_detected": Look("warn", "sync", "Loop detected"),
    # To act on.
    "failed": Look("bad", "fail"),
    "rejected": Look("bad", "fail"),
    "broken": Look("bad", "fail"),
    "lost": Look("bad", "fail"),
    "faulted": Look("bad", "bolt"),
}

UNKNOWN: Final = Look("quiet", "help")
