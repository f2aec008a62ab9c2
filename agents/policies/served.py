"""A policy that an inference worker samples."""

import random
from collections.abc import Sequence
from typing import Final

from agents.context import build_prompt
from agents.coordinates import ScreenView
from agents.errors import ParseError
from agents.formats import compact
from agents.inference.client import DEADLINE_S, InferenceClient
from agents.types import Decision, Turn
from environments.types import Observation

_SEEDS: Final = 2**31


class ServedPolicy:
    """Shows the screen to a served model and reads its answer."""

    def __init__(
        self,
        client: InferenceClient,
        *,
        model: str,
        temperature: float = 1.0,
        top_p: float = 1.0,
        max_tokens: int = 500,
        seed: int | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """Choose the model.

        Args:
            client: Of the event loop that decides.
            model: Its name at the inference workers.
            temperature: 0 takes the likeliest tokens.
            top_p: Share of the probability that may be sampled.
            max_tokens: Of one answer.
            seed: Makes an episode's answers repeatable; None samples afresh.
            deadline_s: How long one answer may take, waiting included.
        """
        self._client = client
        self._model = model
        self._temperature = temperature
        self._top_p = top_p
        self._max_tokens = max_tokens
        self._seed = seed
        self._deadline_s = deadline_s

    async def decide(self, observation: Observation, turns: Sequence[Turn]) -> Decision:
        """Ask the model; an unreadable answer is a decision without an action.

        Raises:
            InferenceFailed: If no worker answered.
        """
        prompt = build_prompt(observation, turns)
        answer = await self._client.complete(
            prompt,
            model=self._model,
            temperature=self._temperature,
            top_p=self._top_p,
            max_tokens=self._max_tokens,
            seed=self._turn_seed(len(turns)),
            deadline_s=self._deadline_s,
        )
        try:
            action = compact.parse(answer.text, ScreenView.of(observation))
        except ParseError as error:
            return Decision(
                prompt=prompt,
                answer=answer,
                text=answer.text,
                action=None,
                parse_error=str(error),
            )
        return Decision(prompt=prompt, answer=answer, text=answer.text, action=action)

    def _turn_seed(self, turn: int) -> int | None:
        """Return another seed for each turn, or a repeated screen repeats the answer."""
        if self._seed is None:
            return None
        generator = random.Random(f"{self._seed}/{turn}")  # noqa: S311 - not a secret
        return generator.randrange(_SEEDS)
