"""Policies that need no model: the expert, and chance. Reference lines for charts."""

import random
from collections.abc import Sequence
from typing import Final

from agents.context import build_prompt
from agents.coordinates import ScreenView
from agents.formats import compact
from agents.policies.base import Policy
from agents.policies.experts import EXPERTS
from agents.policies.oracle import Inspectable, oracle_for
from agents.types import Decision, Turn
from environments.actions import Click
from environments.errors import UnknownTask
from environments.types import Observation, TaskSpec

ORACLE: Final = "oracle"
RANDOM: Final = "random"
NAMES: Final = (ORACLE, RANDOM)


class RandomClicks:
    """Clicks anywhere within the task's area: what chance alone achieves."""

    def __init__(self, *, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - nothing secret

    async def decide(self, observation: Observation, turns: Sequence[Turn]) -> Decision:
        """Click somewhere, whatever there is to see."""
        view = ScreenView.of(observation)
        width, height = observation.screen.size
        area = observation.task_area
        left, top, right, bottom = (
            (area.left, area.top, area.right, area.bottom)
            if area
            else (0, 0, width, height)
        )
        action = Click(
            x=self._rng.uniform(left, right) / width,
            y=self._rng.uniform(top, bottom) / height,
        )
        return Decision(
            prompt=build_prompt(observation, turns),
            answer=None,
            text=compact.render(action, view),
            action=action,
        )


def has_expert(backend: str, name: str) -> bool:
    """Return whether the oracle can play a task."""
    return backend == "miniwob" and name in EXPERTS


def builtin_policy(
    name: str, *, task: TaskSpec, environment: Inspectable, seed: int
) -> Policy:
    """Return a policy that plays one episode without a model.

    Args:
        name: One of ``NAMES``.
        task: What is played.
        environment: Where; experts look into it.
        seed: Of the points that are clicked.

    Raises:
        UnknownTask: If there is no expert for the task.
    """
    if name == RANDOM:
        return RandomClicks(seed=seed)
    if not has_expert(task.backend, task.name):
        raise UnknownTask(f"no expert for the task {task.backend}/{task.name}")
    return oracle_for(task.name, environment, seed=seed)
