"""The unified action space: one frozen dataclass per primitive.

Coordinates are fractions of the whole screen, 0…1 from its top left corner, so
that an action means the same at every resolution. Answer formats
(``agents.formats``) turn a model's text into these; backends carry them out.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from environments.errors import InvalidAction

ScrollDirection = Literal["up", "down", "left", "right"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """Base of all primitives; ``kind`` is the name used in files and prompts."""

    kind: ClassVar[str]
    ends_episode: ClassVar[bool] = False
    """Whether the agent declares itself done by it."""


def _check_fraction(action: Action, *fields: str) -> None:
    for field in fields:
        value = getattr(action, field)
        if not 0.0 <= value <= 1.0:
            raise InvalidAction(
                f"{action.kind}.{field} is a fraction of the screen, "
                f"expected 0…1, got {value}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pointed(Action):
    """A primitive that happens at one point."""

    x: float
    """Fraction of the screen's width, 0…1."""
    y: float
    """Fraction of the screen's height, 0…1."""

    def __post_init__(self) -> None:
        _check_fraction(self, "x", "y")


@dataclass(frozen=True, kw_only=True, slots=True)
class Click(_Pointed):
    """Press and release the left button; a tap on a touch screen."""

    kind: ClassVar[str] = "click"


@dataclass(frozen=True, kw_only=True, slots=True)
class DoubleClick(_Pointed):
    """Click twice, quickly, at one point."""

    kind: ClassVar[str] = "double_click"


@dataclass(frozen=True, kw_only=True, slots=True)
class RightClick(_Pointed):
    """Press and release the right button."""

    kind: ClassVar[str] = "right_click"


@dataclass(frozen=True, kw_only=True, slots=True)
class Move(_Pointed):
    """Move the pointer without pressing anything."""

    kind: ClassVar[str] = "move"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drag(Action):
    """Press the left button at one point, move, and release it at another."""

    kind: ClassVar[str] = "drag"
    x: float
    y: float
    to_x: float
    to_y: float

    def __post_init__(self) -> None:
        _check_fraction(self, "x", "y", "to_x", "to_y")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scroll(_Pointed):
    """Turn the wheel over a point."""

    kind: ClassVar[str] = "scroll"
    direction: ScrollDirection = "down"
    amount: int = 3
    """Notches of the wheel, 1…50."""

    def __post_init__(self) -> None:
        # Not super(): zero-argument super() breaks in slotted dataclasses.
        _check_fraction(self, "x", "y")
        if not 1 <= self.amount <= 50:
            raise InvalidAction(f"scroll.amount is 1…50 notches, got {self.amount}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Type(Action):
    """Type text into whatever has the focus; newlines are Enter."""

    kind: ClassVar[str] = "type"
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Key(Action):
    """Press keys together, then release them: ``("Control", "a")``."""

    kind: ClassVar[str] = "key"
    keys: tuple[str, ...]
    """DOM ``KeyboardEvent.key`` names, modifiers first."""

    def __post_init__(self) -> None:
        if not self.keys:
            raise InvalidAction("key.keys names at least one key, got none")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait(Action):
    """Let time pass."""

    kind: ClassVar[str] = "wait"
    seconds: float = 1.0
    """0…60."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.seconds <= 60.0:
            raise InvalidAction(f"wait.seconds is 0…60, got {self.seconds}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Complete(Action):
    """Declare the task done."""

    kind: ClassVar[str] = "complete"
    ends_episode: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Fail(Action):
    """Claim that the task cannot be done; right only where that is true."""

    kind: ClassVar[str] = "fail"
    ends_episode: ClassVar[bool] = True


PRIMITIVES: dict[str, type[Action]] = {
    cls.kind: cls
    for cls in (
        Click,
        DoubleClick,
        RightClick,
        Move,
        Drag,
        Scroll,
        Type,
        Key,
        Wait,
        Complete,
        Fail,
    )
}


def action_to_dict(action: Action) -> dict[str, Any]:
    """Return the action as JSON: ``{"kind": "click", "x": 0.5, "y": 0.25}``."""
    return {"kind": action.kind, **dataclasses.asdict(action)}


def action_from_dict(data: dict[str, Any]) -> Action:
    """Read what ``action_to_dict`` wrote.

    Raises:
        InvalidAction: If the kind is unknown, a field is missing, unknown or out
            of range.
    """
    fields = dict(data)
    kind = fields.pop("kind", None)
    if kind not in PRIMITIVES:
        known = ", ".join(PRIMITIVES)
        raise InvalidAction(f"unknown action kind {kind!r}, expected one of {known}")
    if kind == Key.kind and isinstance(fields.get("keys"), list):
        fields["keys"] = tuple(fields["keys"])
    try:
        return PRIMITIVES[kind](**fields)
    except TypeError as error:
        raise InvalidAction(f"malformed {kind} action: {error}") from error
