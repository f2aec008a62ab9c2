"""Demonstrations by scripted experts on the real pages."""

import asyncio
import dataclasses
import itertools
import random
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.context import build_prompt
from agents.coordinates import ScreenView
from agents.formats import compact
from agents.policies import fragments, wordings
from agents.policies.oracle import oracle_for
from agents.types import Prompt, Turn
from environments.backends.miniwob.environment import MiniWobEnvironment
from environments.backends.miniwob.host import MiniWobHost
from environments.backends.miniwob.tasks import TASKS_BY_NAME
from training.datasets.row_file import demonstration_row

Rows = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """One episode to be demonstrated."""

    name: str
    """A task of the ``miniwob`` backend, or a fragment."""
    seed: int
    is_fragment: bool = False
    rephrase: bool = False
    """Word the instruction differently than the page does."""


async def demonstrate(
    lessons: Iterable[Lesson],
    *,
    media_root: Path,
    num_slots: int,
    on_rows: Callable[[Lesson, Rows], None],
) -> None:
    """Play lessons on several pages of one browser; order among them is not kept.

    Args:
        lessons: What to demonstrate.
        media_root: Where pictures are kept.
        num_slots: Pages that are open at a time.
        on_rows: Called with each lesson's rows; empty when the expert failed.
    """
    # Blocks of one page stay with one slot, which then need not go to another page.
    blocks = (list(block) for _, block in itertools.groupby(lessons, key=_page_of))

    async def work(environment: MiniWobEnvironment) -> None:
        async with environment:
            for block in blocks:
                for lesson in block:
                    shown = [pair async for pair in _play(environment, lesson)]
                    rows = await asyncio.to_thread(_rows, shown, media_root)
                    on_rows(lesson, rows)

    async with MiniWobHost() as host:
        await asyncio.gather(
            *(work(MiniWobEnvironment(host)) for _ in range(num_slots))
        )


def _page_of(lesson: Lesson) -> str:
    return lesson.name.rpartition("/")[2]


def _rows(shown: list[tuple[Prompt, str]], media_root: Path) -> Rows:
    return [
        demonstration_row(prompt=prompt, answer=answer, media_root=media_root)
        for prompt, answer in shown
    ]


async def _play(
    environment: MiniWobEnvironment, lesson: Lesson
) -> AsyncIterator[tuple[Prompt, str]]:
    if lesson.is_fragment:
        async for shown in fragments.sample(environment, lesson.name, lesson.seed):
            text = compact.render(shown.action, ScreenView.of(shown.observation))
            yield build_prompt(shown.observation, shown.turns), text
        return
    for pair in await _play_task(environment, lesson):
        yield pair


async def _play_task(
    environment: MiniWobEnvironment, lesson: Lesson
) -> list[tuple[Prompt, str]]:
    """Return what was shown and answered; nothing unless the episode was solved."""
    task = TASKS_BY_NAME[lesson.name]
    observation = await environment.reset(task.spec(), lesson.seed)
    wording = observation.instruction
    if lesson.rephrase:
        rng = random.Random(lesson.seed)  # noqa: S311 - wording, no secret
        wording = wordings.rephrase(lesson.name, wording, rng)
    oracle = oracle_for(lesson.name, environment, seed=lesson.seed)
    turns: list[Turn] = []
    shown: list[tuple[Prompt, str]] = []
    for _ in range(task.max_steps):
        decision = await oracle.decide(observation, turns)
        assert decision.action is not None  # noqa: S101 - experts always act
        seen = dataclasses.replace(observation, instruction=wording)
        shown.append((build_prompt(seen, turns), decision.text))
        result = await environment.step(decision.action)
        turns.append(Turn(text=decision.text))
        observation = result.observation
        if result.terminated:
            return shown if result.reward > 0.5 else []
    return []
