"""What an environment is asked and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from PIL.Image import Image


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A rectangle on the screen, in pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Return the width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Return the height in pixels."""
        return self.bottom - self.top


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskSpec:
    """One thing to do in one world; the seed picks the instance."""

    backend: str
    """Name in ``environments.registry``."""
    name: str
    """Name within the backend, such as ``click-tab``."""
    max_steps: int = 10
    """Actions after which the episode is cut off, at least 1."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """What else the backend needs; JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What there is to see after a reset or an action."""

    screen: Image
    """The whole screen, RGB."""
    instruction: str
    """What the agent shall do, in words; constant within an episode."""
    task_area: Box | None = None
    """The part that the task lives in, where the page also draws the instruction
    itself (MiniWoB's yellow bar); None means the whole screen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepResult:
    """What an action led to."""

    observation: Observation
    reward: float = 0.0
    """The evaluator's verdict, 0…1; 0.0 until the episode has terminated."""
    terminated: bool = False
    """The task came to its own end, by success or failure."""
    truncated: bool = False
    """A limit of the environment's cut the episode short; not the agent's end."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """For people and logs; JSON. Never shown to a policy."""
