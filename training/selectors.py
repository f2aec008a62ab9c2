"""What may be read, and by whom; and the counts that the manager decides by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import QuerySet, Sum

from environments.models import Task
from training.errors import TaskNotFound
from training.models import (
    Checkpoint,
    Dataset,
    Evaluation,
    Group,
    MetricRow,
    Run,
    Trajectory,
)
from training.states import (
    RUN_ACTIVE,
    CheckpointStatus,
    GroupStatus,
    TrajectoryStatus,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    AnyUser = AbstractBaseUser | AnonymousUser

UNUSED_GROUPS = (GroupStatus.OPEN, GroupStatus.READY, GroupStatus.BATCHED)
"""Groups whose rollouts no optimizer step has used yet."""
IN_FLIGHT = (TrajectoryStatus.QUEUED, TrajectoryStatus.RUNNING)


def _sees_everything(user: "AnyUser") -> bool:
    return bool(getattr(user, "is_superuser", False))


def runs_visible_to(user: "AnyUser") -> QuerySet[Run]:
    """Return the runs that a user may see: their own; an administrator all."""
    runs = Run.objects.all()
    return runs if _sees_everything(user) else runs.filter(owner_id=user.pk)


def trajectories_visible_to(user: "AnyUser") -> QuerySet[Trajectory]:
    """Return the trajectories that a user may see."""
    rows = Trajectory.objects.select_related("task")
    return rows if _sees_everything(user) else rows.filter(owner_id=user.pk)


def datasets_visible_to(user: "AnyUser") -> QuerySet[Dataset]:
    """Return the data sets that a user may see and train on."""
    rows = Dataset.objects.all()
    return rows if _sees_everything(user) else rows.filter(owner_id=user.pk)


def evaluations_visible_to(user: "AnyUser") -> QuerySet[Evaluation]:
    """Return the evaluations that a user may see."""
    rows = Evaluation.objects.all()
    return rows if _sees_everything(user) else rows.filter(owner_id=user.pk)


def checkpoints_visible_to(user: "AnyUser") -> QuerySet[Checkpoint]:
    """Return the checkpoints of the runs that a user may see."""
    rows = Checkpoint.objects.select_related("run")
    return rows if _sees_everything(user) else rows.filter(run__owner_id=user.pk)


def metrics_after(run_id: UUID, seq: int) -> QuerySet[MetricRow]:
    """Return a run's metric rows that are newer than ``seq``, oldest first."""
    return MetricRow.objects.filter(run_id=run_id, seq__gt=seq).order_by("seq")


def runs_active() -> QuerySet[Run]:
    """Return the runs that processes work on."""
    return Run.objects.filter(status__in=RUN_ACTIVE)


def num_unused_rollouts(run_id: UUID) -> int:
    """Count the rollouts that are in flight or finished but not trained on."""
    unused = Group.objects.filter(run_id=run_id, status__in=UNUSED_GROUPS)
    return unused.aggregate(total=Sum("num_rollouts"))["total"] or 0


def num_in_flight(run_id: UUID) -> int:
    """Count a run's rollouts that are queued or running."""
    return Trajectory.objects.filter(run_id=run_id, status__in=IN_FLIGHT).count()


def newest_checkpoint(run_id: UUID) -> Checkpoint | None:
    """Return the newest checkpoint of a run that can be read."""
    ready = Checkpoint.objects.filter(run_id=run_id, status=CheckpointStatus.READY)
    return ready.order_by("-version").first()


def tasks_by_name(names: Sequence[str]) -> dict[str, Task]:
    """Return tasks by ``<backend>/<name>``.

    Raises:
        TaskNotFound: If any is not in the catalogue; names them all.
    """
    backends = {name.partition("/")[0] for name in names}
    known = {str(task): task for task in Task.objects.filter(backend__in=backends)}
    missing = [name for name in dict.fromkeys(names) if name not in known]
    if missing:
        raise TaskNotFound(f"there is no task {', '.join(missing)}")
    return {name: known[name] for name in names}
