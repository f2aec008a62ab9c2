"""What is said about a run everywhere: how far it is, how long it takes, what one can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from training.charts.figures import smooth
from training.charts.types import MetricPoint
from training.models import MetricRow, Run
from training.states import RUN_ACTIVE, RUN_MOVES, RUN_OVER, RunStatus

SPEED_WINDOW = 20
"""Optimizer steps over which the present speed is measured."""
SPARK_ROWS = 240
"""Newest metric rows that a run's spark and speed are read from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """A run and what follows from its row and its newest measurements."""

    run: Run
    max_steps: int
    share: float
    """Done, 0…1."""
    elapsed_s: float | None
    """Since its first start; None before."""
    left_s: float | None
    """At the present speed; None when there is none to judge by."""
    success: float | None
    """Share of solved episodes, smoothed over the newest rows."""
    trend: Sequence[float]
    """Success, or for supervised runs token accuracy, oldest first."""

    @property
    def percent(self) -> int:
        """Return how much is done, 0…100."""
        return round(self.share * 100)

    @property
    def is_active(self) -> bool:
        """Return whether processes work on it."""
        return self.run.status in RUN_ACTIVE

    @property
    def is_over(self) -> bool:
        """Return whether it has come to an end."""
        return self.run.status in RUN_OVER

    @property
    def is_failed(self) -> bool:
        """Return whether it broke."""
        return self.run.status == RunStatus.FAILED

    @property
    def is_draft(self) -> bool:
        """Return whether it was never started."""
        return self.run.status == RunStatus.DRAFT

    @property
    def can_stop(self) -> bool:
        """Return whether stopping it is possible."""
        # One that waits stops at once; one that is stopping already cannot stop more.
        moves = RUN_MOVES[RunStatus(self.run.status)]
        return self.run.status == RunStatus.QUEUED or RunStatus.STOPPING in moves

    @property
    def can_pause(self) -> bool:
        """Return whether pausing it is possible."""
        return RunStatus.PAUSED in RUN_MOVES[RunStatus(self.run.status)]

    @property
    def can_resume(self) -> bool:
        """Return whether it can go on, or begin, when it is told to."""
        status = RunStatus(self.run.status)
        return status is RunStatus.PAUSED or RunStatus.QUEUED in RUN_MOVES[status]

    @property
    def learning_rate(self) -> float:
        """Return the peak learning rate."""
        return float(self.run.config.get("optimizer", {}).get("learning_rate", 0))

    @property
    def preset(self) -> str:
        """Return the preset that filled in the defaults."""
        return str(self.run.config.get("preset", ""))


def facts_of(runs: Sequence[Run]) -> list[RunFacts]:
    """Return the facts of each run; one query for all."""
    points = newest_points(runs)
    now = timezone.now()
    return [_facts(run, points[run.pk], now) for run in runs]


def newest_points(runs: Sequence[Run]) -> dict[object, list[MetricPoint]]:
    """Return the newest measurements by run, oldest first."""
    points: dict[object, list[MetricPoint]] = {run.pk: [] for run in runs}
    wanted = Q(pk__in=[])
    for run in runs:
        wanted |= Q(run=run, seq__gt=run.last_seq - SPARK_ROWS)
    for row in MetricRow.objects.filter(wanted).order_by("seq"):
        points[row.run_id].append(point_of(row))
    return points


def point_of(row: MetricRow) -> MetricPoint:
    """Return a row as the charts take it."""
    return MetricPoint(
        step=row.step, at=row.at.isoformat(), source=row.source, values=row.values
    )


def series_of(points: Sequence[MetricPoint], metric: str) -> list[float]:
    """Return the values of a metric, oldest first."""
    values = (point.values.get(metric) for point in points)
    return [value for value in values if value is not None]


def _facts(run: Run, points: Sequence[MetricPoint], now: datetime) -> RunFacts:
    max_steps = int(run.config.get("max_optimizer_steps", 0))
    success = smooth(series_of(points, "rollout/success_rate"))
    elapsed = None
    if run.started_at:
        elapsed = ((run.finished_at or now) - run.started_at).total_seconds()
    return RunFacts(
        run=run,
        max_steps=max_steps,
        share=min(1.0, run.optimizer_step / max_steps) if max_steps else 0.0,
        elapsed_s=elapsed,
        left_s=_left_s(run, points, max_steps),
        success=success[-1] if success else None,
        trend=success or smooth(series_of(points, "sft/token_accuracy")),
    )


def _left_s(run: Run, points: Sequence[MetricPoint], max_steps: int) -> float | None:
    if run.status != RunStatus.RUNNING:
        return None
    steps = [point for point in points if point.source == "trainer"][-SPEED_WINDOW:]
    if len(steps) < 2 or steps[-1].step <= steps[0].step:
        return None
    first, last = (datetime.fromisoformat(steps[end].at) for end in (0, -1))
    seconds = (last - first).total_seconds() / (steps[-1].step - steps[0].step)
    return seconds * max(0, max_steps - run.optimizer_step)
