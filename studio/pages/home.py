"""The first page: what is going on, or three ways to begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import CharField, Count, Q, Sum
from django.db.models.functions import Cast, Substr
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from studio.common.http import SignedInRequest
from training.models import Run
from training.pages.cluster import cluster_now
from training.pages.facts import RunFacts, facts_of
from training.selectors import (
    datasets_visible_to,
    evaluations_visible_to,
    runs_visible_to,
    trajectories_visible_to,
)
from training.states import (
    RUN_ACTIVE,
    RUN_OVER,
    EvaluationStatus,
    RunStatus,
    TrajectoryStatus,
)

NUM_LAST = 6
NUM_RECENT_MINUTES = 10
NUM_MINUTES = 60
FAULT_WINDOW = timedelta(minutes=NUM_MINUTES)
MINUTE = Substr(Cast("finished_at", CharField()), 1, 16)
"""``2026-12-01 18:03``; cut as text, since SQLite truncates times by calling Python once
a row, which takes ten times as long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A run that is over, and how well it did on held-out seeds."""

    facts: RunFacts
    held_out: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Minute:
    """What the user's episodes did within one minute."""

    num_steps: int
    num_finished: int
    num_solved: int
    num_faulted: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Activity:
    """What the user's episodes did within the last hour, oldest minute first."""

    minutes: Sequence[Minute]

    @property
    def recent(self) -> Sequence[Minute]:
        """Return the last ten minutes."""
        return self.minutes[-NUM_RECENT_MINUTES:]

    @property
    def actions_per_minute(self) -> float:
        """Return the mean over the last ten minutes."""
        return sum(one.num_steps for one in self.recent) / NUM_RECENT_MINUTES

    @property
    def num_finished(self) -> int:
        """Return the episodes that finished within the last ten minutes."""
        return sum(one.num_finished for one in self.recent)

    @property
    def success(self) -> float | None:
        """Return the share of them that was solved."""
        num_solved = sum(one.num_solved for one in self.recent)
        return num_solved / self.num_finished if self.num_finished else None

    @property
    def num_faulted(self) -> int:
        """Return the broken episodes of the hour."""
        return sum(one.num_faulted for one in self.minutes)

    @property
    def num_ended(self) -> int:
        """Return all episodes of the hour."""
        return self.num_faulted + sum(one.num_finished for one in self.minutes)

    @property
    def fault_share(self) -> float | None:
        """Return the share of broken episodes."""
        return self.num_faulted / self.num_ended if self.num_ended else None

    @property
    def actions_trend(self) -> list[float]:
        """Return the steps of each minute."""
        return [float(one.num_steps) for one in self.minutes] if self.num_ended else []

    @property
    def success_trend(self) -> list[float]:
        """Return the success of each minute in which an episode finished."""
        return [
            one.num_solved / one.num_finished
            for one in self.minutes
            if one.num_finished
        ]

    @property
    def faults_trend(self) -> list[float]:
        """Return the broken episodes of each minute."""
        return (
            [float(one.num_faulted) for one in self.minutes] if self.num_ended else []
        )


@login_required
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """Show what is going on; somebody without runs gets ways to begin."""
    if not runs_visible_to(request.user).exists():
        return render(request, "studio/home_empty.html", _first_visit(request.user))
    return render(request, "studio/home.html", _going_on(request.user))


@login_required
@require_safe
def home_pulse(request: SignedInRequest) -> HttpResponse:
    """Answer only the regions of the page that change."""
    return render(request, "studio/home_pulse.html", _going_on(request.user))


def _first_visit(user: User) -> dict[str, Any]:
    return {
        "nav": "home",
        "cluster": cluster_now(),
        "num_slots": settings.NUM_SLOTS,
        "num_datasets": datasets_visible_to(user).count(),
    }


def _going_on(user: User) -> dict[str, Any]:
    active = list(_active(user))
    facts = facts_of(active)
    running = [one.success for one in facts if one.success is not None]
    cluster = cluster_now()
    return {
        "nav": "home",
        "active": facts,
        "num_paused": sum(run.status == RunStatus.PAUSED for run in active),
        "num_queued": sum(run.status == RunStatus.QUEUED for run in active),
        "activity": _activity(user),
        "trend": next((one.trend for one in facts if one.success is not None), []),
        "success": sum(running) / len(running) if running else None,
        "cluster": cluster,
        "training": [run for run in active if run.status == RunStatus.RUNNING],
        "finished": _finished(user),
        "num_drafts": runs_visible_to(user).filter(status=RunStatus.DRAFT).count(),
    }


def _active(user: User) -> list[Run]:
    wanted = [*RUN_ACTIVE, RunStatus.QUEUED]
    runs = runs_visible_to(user).filter(status__in=wanted)
    return list(runs.order_by("-created_at")[:20])


def _finished(user: User) -> list[Finished]:
    runs = runs_visible_to(user).filter(status__in=RUN_OVER)
    last = list(runs.order_by("-finished_at", "-created_at")[:NUM_LAST])
    done = evaluations_visible_to(user).filter(
        run__in=last, status=EvaluationStatus.FINISHED
    )
    # The newest of each run is the last to be put in.
    rates = dict(done.order_by("finished_at").values_list("run_id", "success_rate"))
    return [
        Finished(facts=facts, held_out=rates.get(facts.run.pk))
        for facts in facts_of(last)
    ]


def _activity(user: User) -> Activity:
    """Return the last hour by minutes; one query, minutes without episodes filled in."""
    now = timezone.now()
    ended = trajectories_visible_to(user).filter(finished_at__gt=now - FAULT_WINDOW)
    finished = Q(status=TrajectoryStatus.FINISHED)
    rows = (
        ended.annotate(minute=MINUTE)
        .values("minute")
        .annotate(
            steps=Sum("num_steps", filter=finished),
            finished=Count("pk", filter=finished),
            solved=Count("pk", filter=finished & Q(end_reason="solved")),
            faulted=Count("pk", filter=Q(status=TrajectoryStatus.FAULTED)),
        )
        .order_by()
    )
    by_age = {_age(row["minute"], now): row for row in rows}
    return Activity(
        minutes=[_minute(by_age.get(age, {})) for age in range(NUM_MINUTES, -1, -1)]
    )


def _age(minute: str, now: datetime) -> int:
    """Return how many minutes ago a minute began."""
    began = datetime.fromisoformat(minute).replace(tzinfo=UTC)
    return int((now - began).total_seconds() // 60)


def _minute(row: Mapping[str, Any]) -> Minute:
    return Minute(
        num_steps=row.get("steps") or 0,
        num_finished=row.get("finished", 0),
        num_solved=row.get("solved", 0),
        num_faulted=row.get("faulted", 0),
    )
