"""What a run's overview shows beside its charts: numbers, modules, latest episodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from django.db.models import Avg, Count, F, Q, QuerySet

from training.charts.types import MetricPoint
from training.models import Evaluation, Group, MetricRow, Run, RunTransition, Trajectory
from training.pages.facts import point_of
from training.states import EvaluationStatus, GroupStatus, TrajectoryStatus

MAX_POINTS = 2000
"""Rows that a page draws at once; of a longer run every n-th."""
LATEST = 100
"""Episodes over which the present success is taken."""
NUM_RECENT = 8
NUM_TRANSITIONS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Success:
    """A share of solved episodes and how sure it is."""

    share: float
    low: float
    high: float
    num: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """What a run has done so far."""

    finished: int
    faulted: int
    running: int
    queued: int
    steps_mean: float | None
    groups: dict[str, int] = field(default_factory=dict)
    """By group status."""
    dropped: dict[str, int] = field(default_factory=dict)
    """By reason."""

    @property
    def num_groups(self) -> int:
        """Return how many groups were dispatched."""
        return sum(self.groups.values())


def points_of(run: Run) -> list[MetricPoint]:
    """Return a run's measurements for its charts, thinned where they are many."""
    rows = MetricRow.objects.filter(run=run).order_by("seq")
    stride = run.last_seq // MAX_POINTS + 1
    if stride > 1:
        # Held-out evaluations are few, and each is wanted.
        rows = rows.annotate(place=F("seq") % stride).filter(
            Q(place=0) | Q(source="evaluation")
        )
    return [point_of(row) for row in rows]


def success_of(run: Run) -> Success | None:
    """Return the success of the run's latest training episodes."""
    latest = Trajectory.objects.filter(
        run=run, evaluation=None, status=TrajectoryStatus.FINISHED
    ).order_by("-finished_at")
    reasons = list(latest.values_list("end_reason", flat=True)[:LATEST])
    if not reasons:
        return None
    return interval(reasons.count("solved"), len(reasons))


def interval(num_solved: int, num: int) -> Success:
    """Return the share with its 95 % interval (Wilson), which also holds near 0 and 1."""
    z = 1.96
    share = num_solved / num
    centre = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z * sqrt(share * (1 - share) / num + z * z / (4 * num * num))
    half /= 1 + z * z / num
    return Success(
        share=share, low=max(0.0, centre - half), high=min(1.0, centre + half), num=num
    )


def held_out_of(run: Run) -> Evaluation | None:
    """Return the newest finished held-out evaluation of the run."""
    done = run.evaluations.filter(status=EvaluationStatus.FINISHED)
    return done.order_by("-finished_at").first()


def counts_of(run: Run) -> Counts:
    """Count the run's episodes and groups; three queries."""
    own = Trajectory.objects.filter(run=run, evaluation=None)
    by_status = dict(own.values_list("status").annotate(Count("pk")).order_by())
    finished = own.filter(status=TrajectoryStatus.FINISHED)
    steps = finished.aggregate(mean=Avg("num_steps"))["mean"]
    groups: dict[str, int] = {}
    dropped: dict[str, int] = {}
    rows = Group.objects.filter(run=run).values_list("status", "drop_reason")
    for status, reason, number in rows.annotate(number=Count("pk")).order_by():
        groups[status] = groups.get(status, 0) + number
        if status == GroupStatus.DROPPED:
            dropped[reason] = number
    return Counts(
        finished=by_status.get(TrajectoryStatus.FINISHED, 0),
        faulted=by_status.get(TrajectoryStatus.FAULTED, 0),
        running=by_status.get(TrajectoryStatus.RUNNING, 0),
        queued=by_status.get(TrajectoryStatus.QUEUED, 0),
        steps_mean=steps,
        groups=groups,
        dropped=dropped,
    )


def recent_of(run: Run) -> QuerySet[Trajectory]:
    """Return the run's latest episodes that ended, newest first."""
    ended = (TrajectoryStatus.FINISHED, TrajectoryStatus.FAULTED)
    rows = run.trajectories.filter(status__in=ended).select_related("task", "group")
    return rows.order_by("-finished_at")[:NUM_RECENT]


def transitions_of(run: Run) -> QuerySet[RunTransition]:
    """Return the run's latest moves, newest first."""
    return run.transitions.order_by("-at", "-pk")[:NUM_TRANSITIONS]


def newest_values(points: Sequence[MetricPoint]) -> dict[str, Any]:
    """Return the last value of every metric by its name.

    A slash becomes two underscores, as templates read them: ``values.timing_s__step``.
    """
    values: dict[str, Any] = {}
    for point in points:
        for name, value in point.values.items():
            values[name.replace("/", "__")] = value
    return values
