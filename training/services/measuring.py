"""Metric rows: numbered, one per run, attempt, step and source."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone

from training.events import MetricsRecorded, publish
from training.models import Group, MetricRow, Run, Trajectory
from training.rollouts.types import EndReason
from training.selectors import num_in_flight
from training.services.commits import after_commit
from training.services.environment_use import MAX_EPISODE, environment_values
from training.states import DropReason, GroupStatus, TrajectoryStatus


def metrics_record(
    run: Run, *, source: str, step: int, values: Mapping[str, float]
) -> None:
    """Keep one row and tell the watchers; call with the run's row locked.

    What was measured already is not measured again: a step that was repeated after
    a crash has its row.
    """
    key = {"attempt": run.attempt, "step": step, "source": source}
    if run.metrics.filter(**key).exists():
        return
    run.last_seq += 1
    finite = {name: float(value) for name, value in values.items() if _is_finite(value)}
    MetricRow.objects.create(run=run, seq=run.last_seq, values=finite, **key)
    run.save(update_fields=["last_seq"])
    event = MetricsRecorded(
        run_id=run.pk,
        seq=run.last_seq,
        step=run.optimizer_step,
        policy_version=run.policy_version,
    )
    after_commit(publish, event)


def measure_rollouts(run: Run, *, batch: Sequence[Group], num_stale: int) -> None:
    """Record how the rollouts went until this batch, as of the present step.

    Args:
        run: Its row, locked.
        batch: The groups that the next optimizer step learns from.
        num_stale: Groups that were complete but too old when the batch was chosen.
    """
    since, until = _last_time(run), timezone.now()
    values = rollout_values(run, since=since, until=until)
    values |= environment_values(run, since=since, until=until)
    values |= _batch_values(run, batch)
    values["async/dropped_stale"] += num_stale
    metrics_record(run, source="rollouts", step=run.optimizer_step, values=values)


def rollout_values(run: Run, *, since: datetime, until: datetime) -> dict[str, float]:
    """Return the measurements of what ended within a time."""
    ended = list(
        Trajectory.objects.filter(
            run=run,
            group__isnull=False,
            status__in=(TrajectoryStatus.FINISHED, TrajectoryStatus.FAULTED),
            dispatched_at__gt=since - MAX_EPISODE,
            finished_at__gt=since,
            finished_at__lte=until,
        ).values_list(
            "status", "reward", "end_reason", "num_steps", "started_at", "finished_at"
        )
    )
    finished = [row for row in ended if row[0] == TrajectoryStatus.FINISHED]
    seconds = max(1e-3, (until - since).total_seconds())
    values = {
        "rollout/num_trajectories": float(len(finished)),
        "async/queue_depth": float(num_in_flight(run.pk)),
    } | _drops(run, since)
    if ended:
        values["rollout/errored"] = 1 - len(finished) / len(ended)
        spent = sum(
            (row[5] - row[4]).total_seconds() for row in ended if row[4] and row[5]
        )
        values["env/occupied_slots"] = spent / seconds
    if finished:
        ends = Counter(row[2] for row in finished)
        rewards = [row[1] or 0.0 for row in finished]
        steps = [row[3] for row in finished]
        values |= {
            "rollout/success_rate": ends[EndReason.SOLVED] / len(finished),
            "rollout/truncated": ends[EndReason.STEP_LIMIT] / len(finished),
            "rollout/parse_errors": ends[EndReason.PARSE_ERROR] / len(finished),
            "rollout/num_steps_mean": statistics.fmean(steps),
            "reward/mean": statistics.fmean(rewards),
            "reward/std": statistics.pstdev(rewards),
            "env/actions_per_minute": 60 * sum(steps) / seconds,
        }
    return values


def trained_values(
    run: Run, *, step: int, claimed_at: datetime, busy_s: float
) -> dict[str, float]:
    """Return what the manager knows of the trajectories that a step learned from.

    Args:
        run: Its row.
        step: The optimizer step.
        claimed_at: When a trainer took the batch.
        busy_s: How long the engine worked on it.
    """
    rows = list(
        Trajectory.objects.filter(
            group__batch__run=run,
            group__batch__step=step,
            group__status=GroupStatus.TRAINED,
            status=TrajectoryStatus.FINISHED,
        ).values_list("reward", "num_steps")
    )
    if not rows:
        return {}
    rewards = [row[0] or 0.0 for row in rows]
    before = run.metrics.filter(source="trainer").order_by("-seq").first()
    began = before.at if before else run.started_at or claimed_at
    seconds = max(1e-3, (timezone.now() - began).total_seconds())
    return {
        "critic/rewards/mean": statistics.fmean(rewards),
        "critic/rewards/max": max(rewards),
        "critic/rewards/min": min(rewards),
        "perf/actions_per_minute": 60 * sum(row[1] for row in rows) / seconds,
        "perf/trainer_utilization": min(1.0, busy_s / seconds),
        "timing_s/wait_for_batch": max(0.0, (claimed_at - began).total_seconds()),
    }


def recent_success(run: Run, *, window: int) -> float | None:
    """Return the share solved of the last ``window`` rollouts; None before that."""
    finished = Trajectory.objects.filter(
        run=run, status=TrajectoryStatus.FINISHED, group__isnull=False
    )
    ends = list(
        finished.order_by("-dispatched_at").values_list("end_reason", flat=True)[
            :window
        ]
    )
    if len(ends) < window:
        return None
    return ends.count(EndReason.SOLVED) / window


def _batch_values(run: Run, batch: Sequence[Group]) -> dict[str, float]:
    oldest = list(
        Trajectory.objects.filter(
            group__in=batch, status=TrajectoryStatus.FINISHED
        ).values_list("min_version", flat=True)
    )
    ages = [max(0, run.policy_version - (version or 0)) for version in oldest]
    if not ages:
        return {}
    return {
        "groups/trained": float(len(batch)),
        "async/staleness_mean": statistics.fmean(ages),
        "async/staleness_max": float(max(ages)),
    }


def _drops(run: Run, since: datetime) -> dict[str, float]:
    """Count the groups that were settled; a group is settled when its last rollout is."""
    settled = (
        Group.objects.filter(run=run, created_at__gt=since - MAX_EPISODE)
        .exclude(status=GroupStatus.OPEN)
        .annotate(
            num_late=Count(
                "trajectories", filter=Q(trajectories__finished_at__gt=since)
            )
        )
        .filter(num_late__gt=0)
    )
    reasons = Counter(settled.values_list("drop_reason", flat=True))
    return {
        "rollout/num_groups": float(sum(reasons.values())),
        "groups/dropped_solved": float(reasons[DropReason.SOLVED]),
        "groups/dropped_failed": float(reasons[DropReason.FAILED]),
        "groups/dropped_flat": float(reasons[DropReason.FLAT]),
        "groups/dropped_faulted": float(reasons[DropReason.FAULTED]),
        "async/dropped_stale": float(reasons[DropReason.STALE]),
    }


def _last_time(run: Run) -> datetime:
    row = run.metrics.filter(source="rollouts").order_by("-seq").first()
    if row is not None:
        return row.at
    first = run.groups.aggregate(first=Min("created_at"))["first"]
    return first or run.created_at


def _is_finite(value: float) -> bool:
    return value == value and abs(value) != float("inf")
