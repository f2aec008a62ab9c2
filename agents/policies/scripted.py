"""The expert of the scripted world, for tests and demos that need no browser."""

import random
from collections.abc import Sequence

from agents.context import build_prompt
from agents.coordinates import ScreenView
from agents.formats import compact
from agents.types import Decision, Turn
from environments.actions import Action, Click, Fail
from environments.backends.scripted.environment import (
    HEIGHT,
    WIDTH,
    ScriptedEnvironment,
)
from environments.types import Box, Observation


class ScriptedExpert:
    """Clicks the square that is asked for, or says that there is none."""

    def __init__(
        self, environment: ScriptedEnvironment, *, seed: int = 0, jitter: bool = True
    ) -> None:
        self._environment = environment
        self._rng = random.Random(seed) if jitter else None  # noqa: S311 - no secret
        self.target_box: Box | None = None
        """Where the last decision aims, in pixels of the screen."""

    async def decide(self, observation: Observation, turns: Sequence[Turn]) -> Decision:
        """Decide on the next action, whatever happened before."""
        goal = self._environment.goal
        self.target_box = goal.box if goal else None
        action: Action = self._click(goal.box) if goal else Fail()
        return Decision(
            prompt=build_prompt(observation, turns),
            answer=None,
            text=compact.render(action, ScreenView.of(observation)),
            action=action,
        )

    def _click(self, box: Box) -> Click:
        u, v = (self._rng.uniform(0.25, 0.75) if self._rng else 0.5 for _ in range(2))
        return Click(
            x=(box.left + u * box.width) / WIDTH, y=(box.top + v * box.height) / HEIGHT
        )
