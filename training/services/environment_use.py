"""What a run's episodes say of the environment cluster: use, speed, what broke."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q

from environments.selectors import cluster_now
from environments.workers import Cluster
from studio.common.registry import RegistryUnreadable
from training.models import Run, Trajectory
from training.rollouts.types import BREAKING
from training.rollouts.use import Stay, quantile, slot_use
from training.states import TrajectoryStatus

MAX_EPISODE: Final = timedelta(minutes=30)
"""Episodes that lie in a window were dispatched no longer before it, give or take."""


def environment_values(
    run: Run, *, since: datetime, until: datetime
) -> dict[str, float]:
    """Return the ``env/…`` measurements of a window.

    Those that need to know who is there are left out where that cannot be read.
    """
    rows = list(_rows(run, since, until))
    ended = [row for row in rows if row["finished_at"] is not None]
    values = _speed(ended)
    values["env/restarts"] = float(sum(row["fault_code"] in BREAKING for row in ended))
    cluster = _cluster()
    if cluster is not None and cluster.num_slots and until > since:
        use = slot_use(
            [_stay(row) for row in rows],
            since=since.timestamp(),
            until=until.timestamp(),
            num_slots=cluster.num_slots,
        )
        values["env/utilization"] = use.utilization
        values["env/occupied"] = use.occupied
    if cluster is not None:
        orphans = sum(seen.entry.num_orphans for seen in cluster.present)
        values["env/orphans"] = float(orphans)
    return values


def _rows(run: Run, since: datetime, until: datetime) -> Iterable[Mapping[str, Any]]:
    """Return what ended within a window, and what is played at its end."""
    ended = Q(
        status__in=(TrajectoryStatus.FINISHED, TrajectoryStatus.FAULTED),
        finished_at__gt=since,
        finished_at__lte=until,
    )
    playing = Q(status=TrajectoryStatus.RUNNING, started_at__lte=until)
    return (
        Trajectory.objects.filter(
            ended | playing,
            run=run,
            group__isnull=False,
            started_at__isnull=False,
            dispatched_at__gt=since - MAX_EPISODE,
        )
        .values(
            "started_at", "finished_at", "fault_code",
            "occupied_s", "busy_s", "reset_s", "step_ms",
        )
        .order_by()
    )  # fmt: skip


def _stay(row: Mapping[str, Any]) -> Stay:
    is_over = row["finished_at"] is not None
    return Stay(
        began=row["started_at"].timestamp(),
        occupied_s=row["occupied_s"] if is_over else None,
        busy_s=row["busy_s"],
    )


def _speed(ended: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    values = {}
    steps_ms = [ms for row in ended for ms in row["step_ms"]]
    if steps_ms:
        values["env/step_seconds_p50"] = quantile(steps_ms, 0.5) / 1000
        values["env/step_seconds_p95"] = quantile(steps_ms, 0.95) / 1000
    resets_s = [row["reset_s"] for row in ended if row["reset_s"] is not None]
    if resets_s:
        values["env/reset_seconds_p50"] = quantile(resets_s, 0.5)
    return values


def _cluster() -> Cluster | None:
    try:
        return cluster_now()
    except RegistryUnreadable:
        return None
