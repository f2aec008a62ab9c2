"""Trials of the experts: every task, many seeds, several pages at once.

Played through the same slots that rollouts lease, so that what is found out about a
task is what a run would meet.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from agents.policies.oracle import oracle_for
from agents.types import Turn
from environments.definitions import TaskDefinition
from environments.errors import EnvironmentsError
from environments.guard import GuardedEnvironment
from environments.pool import SlotPool

SOLVED_ABOVE: Final = 0.5
"""Reward above which an episode counts as solved, as in runs."""
HASTY: Final = "timing"
"""Kind of tasks that are played against the clock."""
NUM_HASTY: Final = 2
"""How many of those at a time."""
CHUNK: Final = 5
"""Episodes that are played on one page in a row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One episode of an expert."""

    task: str
    """Name within the backend."""
    seed: int
    num_steps: int
    instruction: str = ""
    reward: float = 0.0
    """0…1; 0.0 if the episode was cut off."""
    raw_reward: float | None = None
    """What the page itself gave, before it was clipped; None without an end."""
    fault: str = ""
    """What went wrong besides, for people."""

    @property
    def is_solved(self) -> bool:
        """Return whether the episode counts as solved."""
        return self.reward > SOLVED_ABOVE


async def play(
    environment: GuardedEnvironment, task: TaskDefinition, seed: int
) -> Trial:
    """Let a task's expert play one episode; a fault is part of the result."""
    turns: list[Turn] = []
    instruction = ""
    try:
        observation = await environment.reset(task.spec(), seed)
        instruction = observation.instruction
        oracle = oracle_for(task.name, environment, seed=seed)
        while len(turns) < task.max_steps:
            decision = await oracle.decide(observation, turns)
            assert decision.action is not None  # noqa: S101 - experts always act
            result = await environment.step(decision.action)
            turns.append(Turn(text=decision.text))
            observation = result.observation
            if result.terminated:
                return Trial(
                    task=task.name,
                    seed=seed,
                    num_steps=len(turns),
                    instruction=instruction,
                    reward=result.reward,
                    raw_reward=result.info.get("raw_reward"),
                )
        fault = "out of steps"
    except EnvironmentsError as error:
        fault = str(error)
    return Trial(
        task=task.name,
        seed=seed,
        num_steps=len(turns),
        instruction=instruction,
        fault=fault,
    )


async def play_all(
    pool: SlotPool,
    episodes: Sequence[tuple[TaskDefinition, int]],
    *,
    on_trial: Callable[[Trial], None],
) -> None:
    """Play episodes on the slots of a pool; call on the pool's loop.

    What is played against the clock goes first and with few others beside it: there an
    expert that has to wait for a processor is a worse one.

    Args:
        pool: Where; its slots play at the same time.
        episodes: Tasks with an expert, and seeds; those of one task in a row.
        on_trial: Called after each episode, in no order.
    """
    hasty = [episode for episode in episodes if episode[0].category == HASTY]
    calm = [episode for episode in episodes if episode[0].category != HASTY]
    await _play_at_once(pool, hasty, on_trial, min(NUM_HASTY, len(pool.slots)))
    await _play_at_once(pool, calm, on_trial, len(pool.slots))


async def _play_at_once(
    pool: SlotPool,
    episodes: Sequence[tuple[TaskDefinition, int]],
    on_trial: Callable[[Trial], None],
    num_at_once: int,
) -> None:
    chunks = iter(
        [episodes[start : start + CHUNK] for start in range(0, len(episodes), CHUNK)]
    )

    async def work() -> None:
        for chunk in chunks:
            for task, seed in chunk:
                lease = pool.lease(task.backend, task_name=task.name)
                async with lease as (_, environment):
                    on_trial(await play(environment, task, seed))

    await asyncio.gather(*(work() for _ in range(num_at_once)))
