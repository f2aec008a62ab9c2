"""Scripted experts: they read the page itself, which no policy ever may.

They make demonstrations and prove that tasks can be solved.
"""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from agents.context import build_prompt
from agents.coordinates import ScreenView
from agents.formats import compact
from agents.policies.experts import EXPERTS, HELPERS
from agents.types import Decision, Turn
from environments.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    Key,
    Scroll,
    Type,
    Wait,
)
from environments.actions import (
    Move as MovePointer,
)
from environments.errors import StepFault, UnknownTask
from environments.types import Box, Observation

_NUM_DRAWS: Final = 24
# Where to try when there is no chance in it: the centre, then a coarse grid.
_FIXED_DRAWS: Final = [(0.5, 0.5)] + [
    (column / 4, row / 4) for row in range(5) for column in range(5)
]


_AT_A_POINT: Final[dict[str, type[Click | DoubleClick | MovePointer]]] = {
    "click": Click,
    "double_click": DoubleClick,
    "move": MovePointer,
}


class Inspectable(Protocol):
    """A page that can be looked into."""

    async def evaluate(self, js: str) -> Any:
        """Return the value of a script."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """What an expert does next."""

    action: Action
    box: Box
    """The target on the screen, in pixels: the element that is clicked or typed into."""
    to_box: Box | None = None
    """Where a drag ends."""


async def find_move(
    environment: Inspectable,
    script: str,
    *,
    screen_size: tuple[int, int],
    rng: random.Random | None,
) -> Move | None:
    """Ask an expert's script for its next move.

    Args:
        environment: The page as it is now.
        script: An expression over ``experts.HELPERS``.
        screen_size: Width and height of the screen in pixels.
        rng: Draws where near the centre of the target to click; None is the centre.

    Returns:
        None if the script finds nothing to do on the page.
    """
    draws = _FIXED_DRAWS
    if rng is not None:
        draws = [(rng.random(), rng.random()) for _ in range(_NUM_DRAWS)]
    program = (
        f"(() => {{ const DRAWS = {json.dumps(draws)}; {HELPERS} return {script}; }})()"
    )
    found = await environment.evaluate(program)
    if found is None:
        return None
    to_box = found.get("to_box")
    return Move(
        action=_action(found, screen_size),
        box=_box(found["box"], screen_size),
        to_box=_box(to_box, screen_size) if to_box else None,
    )


class Oracle:
    """The expert of one task; it keeps no memory but its dice."""

    def __init__(
        self,
        task_name: str,
        environment: Inspectable,
        *,
        seed: int = 0,
        jitter: bool = True,
    ) -> None:
        """Make an expert for the episodes of one task in one environment.

        Args:
            task_name: Name within the ``miniwob`` backend.
            environment: Where the episodes are played.
            seed: Of the points that are clicked.
            jitter: Whether clicks scatter around the centre of their target.

        Raises:
            UnknownTask: If there is no expert for it.
        """
        if task_name not in EXPERTS:
            raise UnknownTask(f"no expert for the task {task_name!r}")
        self._script = EXPERTS[task_name]
        self._environment = environment
        # Not secret: the dice only scatter clicks.
        self._rng = random.Random(seed) if jitter else None  # noqa: S311
        self.target_box: Box | None = None
        """Where the last decision aims, in pixels of the screen."""

    async def decide(self, observation: Observation, turns: Sequence[Turn]) -> Decision:
        """Decide on the next action, whatever happened before.

        Raises:
            StepFault: If the page is not the task's, or shows nothing to do.
        """
        move = await find_move(
            self._environment,
            self._script,
            screen_size=observation.screen.size,
            rng=self._rng,
        )
        if move is None:
            raise StepFault(f"the expert found nothing to do: {self._script}")
        self.target_box = move.box
        return Decision(
            prompt=build_prompt(observation, turns),
            answer=None,
            text=compact.render(move.action, ScreenView.of(observation)),
            action=move.action,
        )


def oracle_for(
    task_name: str, environment: Inspectable, *, seed: int = 0, jitter: bool = True
) -> Oracle:
    """Return the expert of a task, playing in ``environment``.

    Raises:
        UnknownTask: If there is no expert for it.
    """
    return Oracle(task_name, environment, seed=seed, jitter=jitter)


def _action(found: dict[str, Any], screen_size: tuple[int, int]) -> Action:
    width, height = screen_size
    if found["kind"] == "type":
        return Type(text=found["text"])
    if found["kind"] == "key":
        return Key(keys=tuple(found["keys"]))
    if found["kind"] == "wait":
        return Wait(seconds=found["seconds"])
    at = {"x": _fraction(found["x"], width), "y": _fraction(found["y"], height)}
    if found["kind"] == "drag":
        return Drag(
            **at,
            to_x=_fraction(found["to_x"], width),
            to_y=_fraction(found["to_y"], height),
        )
    if found["kind"] == "scroll":
        return Scroll(**at, direction=found["direction"], amount=found["amount"])
    return _AT_A_POINT[found["kind"]](**at)


def _fraction(pixel: float, size: int) -> float:
    return min(1.0, max(0.0, pixel / size))


def _box(edges: Sequence[float], screen_size: tuple[int, int]) -> Box:
    width, height = screen_size
    left, top, right, bottom = edges
    return Box(
        left=max(0, math.floor(left)),
        top=max(0, math.floor(top)),
        right=min(width, math.ceil(right)),
        bottom=min(height, math.ceil(bottom)),
    )
