"""Coloured squares on a white screen; everything follows from task, seed and actions."""

import asyncio
import random
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw

from environments.actions import Action, Click, Fail
from environments.errors import StepFault, UnknownTask
from environments.types import Box, Observation, StepResult, TaskSpec
from studio.common.closing import AsyncClosing

WIDTH: Final = 160
HEIGHT: Final = 210
TASK_AREA: Final = Box(left=0, top=50, right=WIDTH, bottom=HEIGHT)
_SIDE: Final = 40
_COLOURS: Final = ("red", "green", "blue", "orange", "purple", "black")


class ScriptedHost:
    """Nothing is shared between scripted worlds."""

    is_alive = True

    async def start(self) -> None:
        """Start nothing."""

    async def close(self) -> None:
        """Close nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Square:
    """One thing to click on."""

    colour: str
    box: Box


class ScriptedEnvironment(AsyncClosing):
    """A click on the square that is asked for next is right; any other ends it at 0.

    ``TaskSpec.params`` can make it misbehave, to test whoever drives it:
    ``{"break_at_step": 1}`` raises a fault at the second step, ``{"hang_at_step": 0}``
    never answers the first.
    """

    def __init__(self, host: ScriptedHost | None = None) -> None:
        self._task = TaskSpec(backend="scripted", name="")
        self._instruction = ""
        self._squares: list[Square] = []
        self._goals: list[Square] = []
        self._num_steps = 0
        self._is_over = True

    @property
    def goal(self) -> Square | None:
        """Return the square to click on next; experts may look at it."""
        return self._goals[0] if self._goals else None

    async def reset(self, task: TaskSpec, seed: int) -> Observation:
        """Lay out the seed's squares."""
        rng = random.Random(f"{task.name} {seed}")  # noqa: S311 - nothing secret
        squares = _lay_out(rng)
        first, second = (square.colour for square in squares)
        goals, instruction = {
            "click-square": (squares[:1], f"Click the {first} square."),
            "click-two": (
                squares,
                f"Click the {first} square, then the {second} square.",
            ),
            "click-missing": ([], f"Click the {_absent(squares)} square."),
        }.get(task.name, (None, ""))
        if goals is None:
            raise UnknownTask(f"scripted has no task {task.name!r}")
        self._task, self._instruction = task, instruction
        self._squares, self._goals = squares, list(goals)
        self._num_steps, self._is_over = 0, False
        return self._look()

    async def step(self, action: Action) -> StepResult:
        """Judge a click; other actions change nothing."""
        if self._is_over:
            raise StepFault("the episode is over, or was never reset")
        await self._misbehave()
        self._num_steps += 1
        reward = self._judge(action)
        return StepResult(
            observation=self._look(), reward=reward, terminated=self._is_over
        )

    async def close(self) -> None:
        """End the episode."""
        self._is_over = True

    async def _misbehave(self) -> None:
        if self._task.params.get("break_at_step") == self._num_steps:
            self._is_over = True
            raise StepFault("this world was told to break here")
        if self._task.params.get("hang_at_step") == self._num_steps:
            await asyncio.Event().wait()

    def _judge(self, action: Action) -> float:
        """Return the reward and note whether the episode is over."""
        if action.ends_episode:
            self._is_over = True
            is_infeasible = self._task.name == "click-missing"
            return 1.0 if is_infeasible and isinstance(action, Fail) else 0.0
        if not isinstance(action, Click):
            return 0.0
        goal = self.goal
        if goal is None or not _contains(goal.box, action.x * WIDTH, action.y * HEIGHT):
            self._is_over = True
            return 0.0
        self._goals.pop(0)
        self._squares.remove(goal)
        self._is_over = not self._goals
        return 1.0 if self._is_over else 0.0

    def _look(self) -> Observation:
        screen = Image.new("RGB", (WIDTH, HEIGHT), "white")
        draw = ImageDraw.Draw(screen)
        draw.rectangle((0, 0, WIDTH - 1, TASK_AREA.top - 1), fill="yellow")
        draw.multiline_text(
            (3, 3), self._instruction.replace(", ", ",\n"), fill="black"
        )
        for square in self._squares:
            box = square.box
            draw.rectangle(
                (box.left, box.top, box.right - 1, box.bottom - 1), fill=square.colour
            )
        return Observation(
            screen=screen, instruction=self._instruction, task_area=TASK_AREA
        )


def _lay_out(rng: random.Random) -> list[Square]:
    """Return two squares that do not touch, one above the other."""
    squares = []
    for colour, top in zip(rng.sample(_COLOURS, 2), (52, 130), strict=True):
        left, down = rng.randint(0, WIDTH - _SIDE), rng.randint(0, 36)
        squares.append(
            Square(
                colour=colour,
                box=Box(
                    left=left,
                    top=top + down,
                    right=left + _SIDE,
                    bottom=top + down + _SIDE,
                ),
            )
        )
    rng.shuffle(squares)
    return squares


def _absent(squares: list[Square]) -> str:
    present = {square.colour for square in squares}
    return next(colour for colour in _COLOURS if colour not in present)


def _contains(box: Box, x: float, y: float) -> bool:
    return box.left <= x < box.right and box.top <= y < box.bottom
