"""What a supervised process is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def _at_once(pid: int) -> bool:
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessSpec:
    """One process of the studio: how to start it, and how to tell that it serves."""

    name: str
    """How the log calls it."""
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Put over the supervisor's own."""
    is_ready: Callable[[int], bool] = _at_once
    """Asked with the process id, a few times a second, until it first says yes; must
    answer within half a second and not raise."""
    needs: str = ""
    """Name of the process that must be ready before this one is started, and is stopped
    after it."""
