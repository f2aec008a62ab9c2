"""Parts of tasks, one to four actions each, under instructions of their own.

A base policy learns the parts from these and has to compose them itself: none leads
through a whole task that ends in Submit (``fill-nth``, ``enter-password``,
``login-user``, ``click-collapsible``).
"""

import dataclasses
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from agents.coordinates import ScreenView
from agents.formats import compact
from agents.policies.fragment_plans import KINDS, Scene
from agents.policies.oracle import find_move
from agents.types import Turn
from environments.actions import Action
from environments.errors import UnknownTask
from environments.types import Box, Observation, StepResult, TaskSpec

NAMES: Final = tuple(
    f"{kind}/{task}" for kind, (_, tasks) in KINDS.items() for task in tasks
)
"""``<kind>/<task whose page it is played on>`` of every fragment."""


class Stage(Protocol):
    """An environment that can also be looked into."""

    async def reset(self, task: TaskSpec, seed: int) -> Observation:
        """Start an episode."""
        ...

    async def step(self, action: Action) -> StepResult:
        """Carry out an action."""
        ...

    async def evaluate(self, js: str) -> Any:
        """Return the value of a script."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One row to learn from."""

    observation: Observation
    """With the fragment's instruction in place of the page's."""
    turns: tuple[Turn, ...]
    """What was done before, prepared or shown, oldest first."""
    action: Action
    """What to do now."""
    target_box: Box
    """Where the action aims, in pixels of the screen."""


async def sample(stage: Stage, name: str, seed: int) -> AsyncIterator[Sample]:
    """Play one fragment and give its rows, one to four.

    Args:
        stage: Where to play it; its episode is used up.
        name: One of ``NAMES``.
        seed: Of the page, the wording, what was done before and the points.

    Raises:
        UnknownTask: If there is no such fragment.
    """
    if name not in NAMES:
        raise UnknownTask(f"no fragment {name!r}")
    kind, task = name.split("/")
    rng = random.Random(f"{name} {seed}")  # noqa: S311 - nothing secret
    observation = await stage.reset(TaskSpec(backend="miniwob", name=task), seed)
    plan = KINDS[kind][0](
        Scene(task=task, instruction=observation.instruction, rng=rng)
    )
    turns: tuple[Turn, ...] = ()
    scripts = [*plan.preparation, *[plan.script] * plan.max_moves]
    for index, script in enumerate(scripts):
        size = observation.screen.size
        move = await find_move(stage, script, screen_size=size, rng=rng)
        if move is None:
            continue
        if index >= len(plan.preparation):
            yield Sample(
                observation=dataclasses.replace(
                    observation, instruction=plan.instruction
                ),
                turns=turns,
                action=move.action,
                target_box=move.box,
            )
        result = await stage.step(move.action)
        text = compact.render(move.action, ScreenView.of(observation))
        turns = (*turns, Turn(text=text))
        observation = result.observation
        if result.terminated:
            return
