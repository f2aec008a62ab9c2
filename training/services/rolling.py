"""One trajectory, from the claim to its row: what a message to ``rollouts`` sets off."""

import asyncio
import logging
import shutil
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from agents.errors import InferenceFailed
from agents.policies.base import Policy
from agents.policies.builtin import builtin_policy
from agents.policies.served import ServedPolicy
from environments.errors import EnvironmentFault, EnvironmentsError
from environments.guard import GuardedEnvironment
from environments.types import TaskSpec
from studio.common.logs import bound
from training.config import RlConfig, RolloutConfig
from training.errors import TrainingError
from training.models import Evaluation, Trajectory
from training.rollouts.runner import ProgressEvent, roll_out
from training.rollouts.store import write_trajectory
from training.rollouts.types import FaultCode
from training.rollouts.types import Trajectory as Episode
from training.services.advancing import CONFIGS
from training.services.files import storage
from training.services.live import SlotReporter
from training.services.policies import is_served, policy_resolve, served_name
from training.services.seats import SEATS, Seat
from training.services.slots import RolloutWorker, is_ending, rollout_worker
from training.services.trajectories import (
    Outcome,
    Timings,
    trajectory_claim,
    trajectory_fault,
    trajectory_finish,
)

logger = logging.getLogger(__name__)

EVALUATION_TOKENS: Final = 64
"""Of one answer in an evaluation that belongs to no ``rl`` run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """Everything that an episode needs to know; no row is read while it is played."""

    trajectory: Trajectory
    spec: TaskSpec
    model: str
    """The name it is served by, or that of a built-in policy."""
    temperature: float
    rollout: RolloutConfig


def trajectory_run(*, trajectory_id: UUID, worker: RolloutWorker | None = None) -> None:
    """Play one trajectory and record how it ended; the second delivery does nothing.

    Raises:
        Exception: A bug, once the trajectory is recorded as faulted.
    """
    # What is not claimed is sent again, to a worker that lives on.
    row = None if is_ending() else trajectory_claim(trajectory_id=trajectory_id)
    if row is None:
        return
    seat = Seat(trajectory=row)
    with bound(trajectory_id=str(row.pk)):
        try:
            brief = brief_of(row)
            worker = worker or rollout_worker()
            episode = worker.pool.run(_play(worker, brief, seat))
            _keep(row, episode, seat, model=brief.model)
        except (CancelledError, asyncio.CancelledError):
            # By the run, which has said so in the row, or by the end of this process.
            _fault(row, seat, FaultCode.WORKER_LOST, "The worker was told to end")
        except (EnvironmentsError, InferenceFailed, TrainingError) as error:
            _fault(row, seat, fault_code_of(error), str(error))
        except Exception as error:
            _fault(row, seat, FaultCode.ENV_STEP, f"Internal error: {error!r}")
            raise


def brief_of(row: Trajectory) -> Brief:
    """Return what the episode of a row is to be played with.

    Raises:
        PolicyNotFound: If an evaluation's policy is gone.
    """
    spec = TaskSpec(
        backend=row.task.backend,
        name=row.task.name,
        max_steps=row.task.max_steps,
        params=row.task.params,
    )
    if row.evaluation is not None:
        return Brief(
            trajectory=row,
            spec=spec,
            model=_model_of(row.evaluation),
            temperature=row.evaluation.temperature,
            rollout=_rollout_of(row.evaluation),
        )
    if row.run is None:
        raise TrainingError(f"trajectory {row.pk} belongs to no run and no evaluation")
    config = CONFIGS.validate_python(row.run.config)
    if not isinstance(config, RlConfig):
        raise TrainingError(f"a run of kind {config.kind} has no rollouts")
    return Brief(
        trajectory=row,
        spec=spec,
        model=served_name(row.run.pk),
        temperature=config.rollout.temperature,
        rollout=config.rollout,
    )


def fault_code_of(error: Exception) -> FaultCode:
    """Return what broke, by the error that said so."""
    if isinstance(error, InferenceFailed):
        return FaultCode.MODEL
    if isinstance(error, EnvironmentFault):
        return FaultCode(error.code)
    return FaultCode.ENV_START


def _model_of(evaluation: Evaluation) -> str:
    if not is_served(evaluation.policy):
        return evaluation.policy
    return policy_resolve(reference=evaluation.policy, owner=evaluation.owner).model


def _policy_of(
    worker: RolloutWorker, brief: Brief, environment: GuardedEnvironment
) -> Policy:
    if not is_served(brief.model):
        return builtin_policy(
            brief.model,
            task=brief.spec,
            environment=environment,
            seed=brief.trajectory.seed,
        )
    return ServedPolicy(
        worker.client(),
        model=brief.model,
        temperature=brief.temperature,
        top_p=brief.rollout.top_p,
        max_tokens=brief.rollout.max_response_tokens,
    )


def _rollout_of(evaluation: Evaluation) -> RolloutConfig:
    """Evaluate a run's policy under the limits that it learned with."""
    config = CONFIGS.validate_python(evaluation.run.config) if evaluation.run else None
    if isinstance(config, RlConfig):
        return config.rollout
    return RolloutConfig(max_response_tokens=EVALUATION_TOKENS)


async def _play(worker: RolloutWorker, brief: Brief, seat: Seat) -> Episode:
    row, spec = brief.trajectory, brief.spec
    worker.begin(row.pk)
    try:
        async with worker.pool.lease(spec.backend, task_name=spec.name) as (
            slot,
            environment,
        ):
            SEATS.sit(seat, slot.slot_id)
            reporter = SlotReporter(
                slot=slot.slot_id, worker=worker.name, trajectory=row
            )

            async def note(event: ProgressEvent) -> None:
                seat.enter(event.phase, event.step)
                await reporter.note(event)

            try:
                return await roll_out(
                    environment=environment,
                    policy=_policy_of(worker, brief, environment),
                    task=spec,
                    seed=row.seed,
                    step_limit=row.step_limit,
                    max_parse_errors=brief.rollout.max_parse_errors,
                    is_feasible=row.task.is_feasible,
                    on_progress=note,
                )
            finally:
                SEATS.rise(seat)
                reporter.rest()
    finally:
        worker.end(row.pk)


def _keep(row: Trajectory, episode: Episode, seat: Seat, *, model: str) -> None:
    """Write the files, then the row; files without a row are nobody's."""
    folder = storage().trajectory(row.pk, run_id=row.run_id)
    write_trajectory(folder, episode, storage().root, policy=model)
    versions = [
        version
        for step in episode.steps
        if step.decision.answer is not None
        for version in step.decision.answer.versions
    ]
    outcome = Outcome(
        end_reason=episode.end_reason,
        reward=episode.reward,
        num_steps=episode.num_steps,
        min_version=int(min(versions)) if versions else None,
        max_version=int(max(versions)) if versions else None,
        path=storage().relative(folder),
        slot=seat.slot,
        timings=_timings(seat, episode),
    )
    if not trajectory_finish(trajectory=row, fence=row.fence, outcome=outcome):
        _remove(folder)
        logger.info("trajectory came too late; nothing recorded")


def _fault(row: Trajectory, seat: Seat, code: FaultCode, detail: str) -> None:
    logger.warning("trajectory faulted: %s", detail, extra={"code": str(code)})
    SEATS.fault(seat, code, detail)
    trajectory_fault(
        trajectory=row,
        fence=row.fence,
        code=code,
        detail=detail,
        slot=seat.slot,
        timings=_timings(seat),
    )


def _timings(seat: Seat, episode: Episode | None = None) -> Timings:
    steps = episode.steps if episode else ()
    # An answer that was no action never reached the world.
    acted_s = [step.timings_s.get("environment", 0.0) for step in steps]
    return Timings(
        occupied_s=seat.clock.occupied_s,
        busy_s=seat.clock.busy_s,
        reset_s=episode.reset_s if episode else None,
        step_ms=tuple(round(1000 * seconds) for seconds in acted_s if seconds > 0),
    )


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
