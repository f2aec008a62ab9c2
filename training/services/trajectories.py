"""A trajectory's life: every write of its status, each by compare-and-set.

A move is one UPDATE that names the status and the fence which it expects, so the
loser of a race changes nothing and is told so.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from training.events import TrajectoryFinished, publish
from training.models import Trajectory
from training.rollouts.types import EndReason, FaultCode
from training.selectors import IN_FLIGHT
from training.services import messages
from training.services.commits import after_commit
from training.states import TRAJECTORY_MOVES, TrajectoryStatus

LEASE_S: Final = 10.0
"""A worker that says nothing for so long is lost, and its trajectories with it."""
MAX_TRIES: Final = 5
"""Tries of one rollout before its group is given up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timings:
    """How an episode spent a slot's time, however it ended."""

    occupied_s: float = 0.0
    """From its reset to its end."""
    busy_s: float = 0.0
    """Of these, not waiting for the model."""
    reset_s: float | None = None
    """Of a finished one."""
    step_ms: tuple[int, ...] = ()
    """Of each action that the world carried out, the picture after it included."""

    def fields(self) -> dict[str, Any]:
        """Return them as a row keeps them."""
        return {
            "occupied_s": self.occupied_s,
            "busy_s": self.busy_s,
            "reset_s": self.reset_s,
            "step_ms": list(self.step_ms),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a finished episode leaves in its row."""

    end_reason: EndReason
    reward: float
    num_steps: int
    min_version: int | None
    max_version: int | None
    path: str
    """Folder below the media root."""
    slot: str = ""
    timings: Timings = Timings()


def trajectory_claim(*, trajectory_id: UUID) -> Trajectory | None:
    """Claim a queued trajectory for this worker.

    Returns:
        The row with its fence and task, or None if it is not (or no longer) queued:
        a message that came twice, or a run that is over.
    """
    now = timezone.now()
    won = _move(
        Trajectory.objects.filter(pk=trajectory_id),
        TrajectoryStatus.RUNNING,
        fence=F("fence") + 1,
        lease_expires_at=_lease_end(now),
        started_at=now,
    )
    if not won:
        return None
    return Trajectory.objects.select_related("task", "run", "evaluation").get(
        pk=trajectory_id
    )


def trajectories_extend(*, ids: Collection[UUID]) -> set[UUID]:
    """Extend the leases of a worker's trajectories.

    Returns:
        Those that are still its own; the others were cancelled or given up.
    """
    running = Trajectory.objects.filter(pk__in=ids, status=TrajectoryStatus.RUNNING)
    running.update(lease_expires_at=_lease_end(timezone.now()))
    return set(running.values_list("pk", flat=True))


def trajectory_finish(*, trajectory: Trajectory, fence: int, outcome: Outcome) -> bool:
    """Record how an episode ended.

    Returns:
        False if the row is no longer this worker's; nothing was written then.
    """
    with transaction.atomic():
        won = _move(
            Trajectory.objects.filter(pk=trajectory.pk, fence=fence),
            TrajectoryStatus.FINISHED,
            end_reason=outcome.end_reason,
            reward=outcome.reward,
            num_steps=outcome.num_steps,
            min_version=outcome.min_version,
            max_version=outcome.max_version,
            path=outcome.path,
            slot=outcome.slot,
            lease_expires_at=None,
            finished_at=timezone.now(),
            **outcome.timings.fields(),
        )
        if won:
            _announce(trajectory, outcome)
    return won


def trajectory_fault(
    *,
    trajectory: Trajectory,
    fence: int,
    code: FaultCode,
    detail: str,
    slot: str = "",
    timings: Timings = Timings(),
) -> bool:
    """Record that the infrastructure broke: no reward, whatever was seen so far."""
    with transaction.atomic():
        won = _move(
            Trajectory.objects.filter(pk=trajectory.pk, fence=fence),
            TrajectoryStatus.FAULTED,
            fault_code=code,
            fault_detail=detail[:2000],
            slot=slot,
            lease_expires_at=None,
            finished_at=timezone.now(),
            **timings.fields(),
        )
        if won:
            after_commit(_wake_owner, trajectory)
    return won


def trajectories_reap(*, now: datetime | None = None) -> list[Trajectory]:
    """Fault the running trajectories whose worker was lost; returns them."""
    now = now or timezone.now()
    lost = list(
        Trajectory.objects.filter(
            status=TrajectoryStatus.RUNNING, lease_expires_at__lt=now
        )[:500]
    )
    return [row for row in lost if _reap(row, now)]


def trajectories_cancel(rows: "QuerySet[Trajectory]") -> int:
    """Cancel what is queued or running of ``rows``; workers notice within seconds."""
    return rows.filter(status__in=IN_FLIGHT).update(
        status=TrajectoryStatus.CANCELLED,
        fault_code=FaultCode.CANCELLED,
        lease_expires_at=None,
        finished_at=timezone.now(),
    )


def trajectories_roll_again(rows: Iterable[Trajectory]) -> list[Trajectory]:
    """Queue a new try of each faulted trajectory; its place and seed stay the same."""
    return Trajectory.objects.bulk_create(
        Trajectory(
            owner_id=row.owner_id,
            run_id=row.run_id,
            group_id=row.group_id,
            evaluation_id=row.evaluation_id,
            task_id=row.task_id,
            seed=row.seed,
            index=row.index,
            step_limit=row.step_limit,
        )
        for row in rows
    )


def _move(rows: "QuerySet[Trajectory]", to: TrajectoryStatus, **fields: Any) -> bool:
    sources = [old for old, moves in TRAJECTORY_MOVES.items() if to in moves]
    return rows.filter(status__in=sources).update(status=to, **fields) == 1


def _reap(row: Trajectory, now: datetime) -> bool:
    # The lease is checked again: its worker may have been slow, not dead.
    won = _move(
        Trajectory.objects.filter(pk=row.pk, fence=row.fence, lease_expires_at__lt=now),
        TrajectoryStatus.FAULTED,
        fault_code=FaultCode.WORKER_LOST,
        fault_detail=f"No sign of life for {LEASE_S:.0f} s",
        lease_expires_at=None,
        finished_at=now,
    )
    if won:
        _wake_owner(row)
    return won


def _announce(trajectory: Trajectory, outcome: Outcome) -> None:
    after_commit(_wake_owner, trajectory)
    if trajectory.run_id is None:
        return
    event = TrajectoryFinished(
        run_id=trajectory.run_id,
        id=trajectory.pk,
        task=str(trajectory.task),
        reward=outcome.reward,
        end_reason=outcome.end_reason,
        num_steps=outcome.num_steps,
    )
    after_commit(publish, event)


def _wake_owner(trajectory: Trajectory) -> None:
    """Have the manager look at whatever the trajectory belongs to."""
    if trajectory.group_id is not None and trajectory.run_id is not None:
        messages.send_advance(trajectory.run_id)
    if trajectory.evaluation_id is not None:
        messages.send_advance_evaluation(trajectory.evaluation_id)


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=LEASE_S)
