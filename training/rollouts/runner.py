"""Plays one episode: a policy in an environment, watched over by deadlines.

No Django, no files. Whatever breaks is an error and never a reward of 0; what the
agent does wrong is an end with its reason.
"""

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from agents.errors import InferenceFailed
from agents.policies.base import Policy
from agents.types import Decision, Turn
from environments.actions import Action, Fail, Wait
from environments.base import GUIEnvironment
from environments.errors import InvalidAction, TimeoutFault
from environments.types import Observation, StepResult, TaskSpec
from training.rollouts.types import EndReason, Step, Trajectory

T = TypeVar("T")
Phase = Literal["reset", "model", "acting", "evaluating", "idle"]

SOLVED_ABOVE: Final = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Deadlines:
    """How long each thing may take, in seconds."""

    reset_s: float = 30.0
    step_s: float = 30.0
    """What an action waits for on purpose comes on top."""
    model_s: float = 130.0
    """More than the inference client's own deadline, whose error says more."""
    episode_s: float = 900.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgressEvent:
    """What an episode is about to do; for those who watch."""

    phase: Phase
    """``idle`` when it is over."""
    step: int
    """Number of the decision, from 0."""
    observation: Observation | None
    """The newest; None before the reset."""
    decision: Decision | None
    """The last one; None before the first."""


OnProgress = Callable[[ProgressEvent], Awaitable[None]]


async def ignore(_: ProgressEvent) -> None:
    """Watch nothing."""


async def roll_out(
    *,
    environment: GUIEnvironment,
    policy: Policy,
    task: TaskSpec,
    seed: int,
    step_limit: int,
    max_parse_errors: int,
    is_feasible: bool = True,
    deadlines: Deadlines = Deadlines(),
    on_progress: OnProgress = ignore,
) -> Trajectory:
    """Play one episode to its end.

    Args:
        environment: Started and free.
        policy: Who decides.
        task: What to do.
        seed: Which instance of the task.
        step_limit: Decisions after which the episode is cut off, at least 1.
        max_parse_errors: Unreadable answers in a row that end the episode.
        is_feasible: Whether the task can be done; if so, an agent that claims it
            cannot ends the episode without the environment being asked.
        deadlines: What takes longer is a fault.
        on_progress: Awaited before each phase and at the end.

    Raises:
        EnvironmentFault: If the world broke or was too slow.
        InferenceFailed: If no model could be asked, or it was too slow.
    """
    rollout = _Rollout(
        environment=environment,
        policy=policy,
        task=task,
        seed=seed,
        step_limit=step_limit,
        max_parse_errors=max_parse_errors,
        is_feasible=is_feasible,
        deadlines=deadlines,
        on_progress=on_progress,
    )
    return await rollout.play()


@dataclass(frozen=True, kw_only=True, slots=True)
class _End:
    reason: EndReason
    reward: float = 0.0


@dataclass(kw_only=True, slots=True)
class _Rollout:
    """One episode while it is played; the fields as ``roll_out`` has them."""

    environment: GUIEnvironment
    policy: Policy
    task: TaskSpec
    seed: int
    step_limit: int
    max_parse_errors: int
    is_feasible: bool
    deadlines: Deadlines
    on_progress: OnProgress
    steps: list[Step] = field(default_factory=list)
    num_unreadable: int = 0
    """In a row, up to now."""
    started_at: float = field(default_factory=time.monotonic)

    async def play(self) -> Trajectory:
        observation, reset_s = await self._reset()
        end = None
        while end is None:
            observation, end = await self._step(observation)
        await self._tell("idle", observation)
        return Trajectory(
            task=self.task,
            seed=self.seed,
            steps=tuple(self.steps),
            final_observation=observation,
            end_reason=end.reason,
            reward=end.reward,
            reset_s=reset_s,
        )

    async def _reset(self) -> tuple[Observation, float]:
        await self._tell("reset", None)
        return await self._timed(
            self.environment.reset(self.task, self.seed),
            self.deadlines.reset_s,
            TimeoutFault,
            "the environment's reset",
        )

    async def _step(self, observation: Observation) -> tuple[Observation, _End | None]:
        """Take one decision, carry it out and look whether that was the end."""
        await self._tell("model", observation)
        turns = [Turn(text=step.decision.text) for step in self.steps]
        decision, decide_s = await self._timed(
            self.policy.decide(observation, turns),
            self.deadlines.model_s,
            InferenceFailed,
            "the policy",
        )
        result, act_s = None, 0.0
        if decision.action is not None and not self._gives_up(decision.action):
            try:
                result, act_s = await self._act(observation, decision, decision.action)
            except InvalidAction as error:
                decision = dataclasses.replace(
                    decision, action=None, parse_error=str(error)
                )
        self.steps.append(_step_of(observation, decision, decide_s, act_s, result))
        after = observation if result is None else result.observation
        return after, self._end_after(decision, result)

    def _gives_up(self, action: Action) -> bool:
        return isinstance(action, Fail) and self.is_feasible

    async def _act(
        self, observation: Observation, decision: Decision, action: Action
    ) -> tuple[StepResult, float]:
        phase: Phase = "evaluating" if action.ends_episode else "acting"
        await self._tell(phase, observation, decision)
        waits_s = action.seconds if isinstance(action, Wait) else 0.0
        return await self._timed(
            self.environment.step(action),
            self.deadlines.step_s + waits_s,
            TimeoutFault,
            f"the environment's {action.kind}",
        )

    def _end_after(self, decision: Decision, result: StepResult | None) -> _End | None:
        if decision.action is None:
            self.num_unreadable += 1
            if self.num_unreadable >= self.max_parse_errors:
                return _End(reason=EndReason.PARSE_ERROR)
        elif result is None:
            return _End(reason=EndReason.INFEASIBLE_CLAIMED)
        else:
            self.num_unreadable = 0
            if result.terminated:
                solved = result.reward > SOLVED_ABOVE
                reason = EndReason.SOLVED if solved else EndReason.UNSOLVED
                return _End(reason=reason, reward=result.reward)
            if result.truncated:
                return _End(reason=EndReason.STEP_LIMIT)
        if len(self.steps) >= self.step_limit:
            return _End(reason=EndReason.STEP_LIMIT)
        return None

    async def _tell(
        self,
        phase: Phase,
        observation: Observation | None,
        decision: Decision | None = None,
    ) -> None:
        if decision is None and self.steps:
            decision = self.steps[-1].decision
        await self.on_progress(
            ProgressEvent(
                phase=phase,
                step=len(self.steps),
                observation=observation,
                decision=decision,
            )
        )

    async def _timed(
        self,
        work: Coroutine[Any, Any, T],
        limit_s: float,
        fault: type[TimeoutFault | InferenceFailed],
        who: str,
    ) -> tuple[T, float]:
        """Return what comes of some work, and in how many seconds it came."""
        started_at = time.monotonic()
        left_s = self.started_at + self.deadlines.episode_s - started_at
        try:
            done = await _within(work, min(limit_s, left_s))
        except TimeoutError as error:
            if left_s < limit_s:
                limit = f"the episode's {self.deadlines.episode_s:g} s were over"
            else:
                limit = f"it took more than {limit_s:g} s"
            raise fault(f"{who} did not answer: {limit}") from error
        return done, time.monotonic() - started_at


async def _within(work: Coroutine[Any, Any, T], limit_s: float) -> T:
    """Await some work for a while.

    ``asyncio.wait_for`` would wait on for work that hangs so badly that it does not
    even end when it is cancelled.

    Raises:
        TimeoutError: If it takes longer.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=max(0.0, limit_s))
    finally:
        if not task.done():
            task.cancel()
    if not task.done():
        raise TimeoutError
    return task.result()


def _step_of(
    observation: Observation,
    decision: Decision,
    decide_s: float,
    act_s: float,
    result: StepResult | None,
) -> Step:
    queue_s = decision.answer.timings_s.get("queue", 0.0) if decision.answer else 0.0
    landed = decision.action if result is not None else None
    return Step(
        observation=observation,
        decision=decision,
        executed_px=_pixels(landed, observation.screen.size),
        timings_s={
            "queue": queue_s,
            "model": max(0.0, decide_s - queue_s),
            "environment": act_s,
        },
    )


def _pixels(action: Action | None, size: tuple[int, int]) -> Mapping[str, int] | None:
    """Return the pixels that an action's points lie in; None without a point."""
    width, height = size
    extents = {"x": width, "y": height, "to_x": width, "to_y": height}
    pixels = {
        name: min(extent - 1, int(getattr(action, name) * extent))
        for name, extent in extents.items()
        if hasattr(action, name)
    }
    return pixels or None
