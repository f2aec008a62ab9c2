"""What a rollout leaves behind: the shared vocabulary of training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from agents.types import Decision
from environments.types import Observation, TaskSpec


class EndReason(StrEnum):
    """How an episode ended, when nothing broke."""

    SOLVED = "solved"
    """The evaluator gave a reward above 0.5."""
    UNSOLVED = "unsolved"
    """The episode terminated with a reward of 0.5 or less."""
    STEP_LIMIT = "step_limit"
    """The steps ran out."""
    PARSE_ERROR = "parse_error"
    """Too many answers in a row could not be read."""
    LOOP_DETECTED = "loop_detected"
    """The same action on the same screen, over and over."""
    INFEASIBLE_CLAIMED = "infeasible_claimed"
    """The agent said that the task cannot be done, on a task that can."""


class FaultCode(StrEnum):
    """What broke; says nothing about the agent, so there is no reward."""

    ENV_START = "env_start"
    ENV_STEP = "env_step"
    ENV_TIMEOUT = "env_timeout"
    MODEL = "model"
    EVALUATOR = "evaluator"
    WORKER_LOST = "worker_lost"
    CANCELLED = "cancelled"


BREAKING: Final = frozenset(
    {
        FaultCode.ENV_START,
        FaultCode.ENV_STEP,
        FaultCode.ENV_TIMEOUT,
        FaultCode.EVALUATOR,
    }
)
"""After one of these the slot's world is thrown away and built anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One decision and what came of it."""

    observation: Observation
    """What the policy saw before it decided."""
    decision: Decision
    executed_px: Mapping[str, int] | None = None
    """Where the action landed: ``{"x", "y"}`` (a drag also ``to_x``, ``to_y``) in
    pixels of the screen; None without a point."""
    timings_s: Mapping[str, float] = field(default_factory=dict)
    """``queue``, ``model``, ``environment``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trajectory:
    """One episode of one policy on one task; never one that faulted."""

    task: TaskSpec
    seed: int
    steps: Sequence[Step]
    final_observation: Observation
    end_reason: EndReason
    reward: float
    """The evaluator's verdict, 0…1."""
    reset_s: float = 0.0

    @property
    def num_steps(self) -> int:
        """Return how many decisions were taken."""
        return len(self.steps)

    @property
    def is_solved(self) -> bool:
        """Return whether the evaluator was satisfied."""
        return self.end_reason is EndReason.SOLVED
