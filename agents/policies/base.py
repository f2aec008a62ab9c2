"""The contract of whoever decides what to do next."""

from collections.abc import Sequence
from typing import Protocol

from agents.types import Decision, Turn
from environments.types import Observation


class Policy(Protocol):
    """Looks at a screen and decides on one action."""

    async def decide(self, observation: Observation, turns: Sequence[Turn]) -> Decision:
        """Decide on the next action.

        Args:
            observation: The screen as it is now.
            turns: What the policy did before in this episode, oldest first.

        Raises:
            InferenceFailed: If no model could be asked.
        """
        ...
