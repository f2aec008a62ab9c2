"""What may be read of tasks and slots, and by whom."""

from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, QuerySet
from redis.exceptions import RedisError

from environments.errors import BoardUnreachable, SlotNotFound, UnknownTask
from environments.events import EventLog, Happened
from environments.frames import FrameStore, SlotState
from environments.models import Task, TaskSuite
from environments.types import TaskSpec
from environments.workers import Cluster, EnvironmentWorker, cluster_of, worker_registry
from studio.common.redis import connect
from studio.common.registry import Registry

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    AnyUser = AbstractBaseUser | AnonymousUser


def tasks_all() -> QuerySet[Task]:
    """Return all tasks with their suites; everybody may see them."""
    return Task.objects.select_related("suite").order_by("backend", "name")


def task_by_path(path: str) -> Task:
    """Return the task that people call ``<backend>/<name>``.

    Raises:
        UnknownTask: If there is none.
    """
    backend, _, name = path.partition("/")
    try:
        return tasks_all().get(backend=backend, name=name)
    except Task.DoesNotExist:
        raise UnknownTask(f"no task {path!r}, expected <backend>/<name>") from None


def task_spec(task: Task) -> TaskSpec:
    """Return what an environment is asked for."""
    return TaskSpec(
        backend=task.backend,
        name=task.name,
        max_steps=task.max_steps,
        params=task.params,
    )


def suites() -> QuerySet[TaskSuite]:
    """Return the suites with their ``num_tasks``."""
    return TaskSuite.objects.annotate(num_tasks=Count("tasks"))


def slots_visible_to(user: "AnyUser", *, run_id: str = "") -> list[SlotState]:
    """Return the slots that work for a user now; an administrator sees all.

    Args:
        user: Who asks.
        run_id: Only slots that work for this run; asking keeps its screens coming.

    Raises:
        BoardUnreachable: If Redis does not answer.
    """
    sees_all = bool(getattr(user, "is_superuser", False))
    try:
        found = [
            slot
            for slot in _board().slots()
            if (sees_all or slot.owner_id == user.pk) and run_id in ("", slot.run_id)
        ]
        if run_id and found:
            _board().watch(run_id)
    except (RedisError, OSError) as error:
        raise BoardUnreachable(f"the slot board does not answer: {error}") from error
    return found


def slot_frame(user: "AnyUser", slot: str) -> tuple[SlotState, bytes | None]:
    """Return a slot and its latest screen as WebP, None where there is none yet.

    Raises:
        SlotNotFound: If no such slot works for the user.
        BoardUnreachable: If Redis does not answer.
    """
    found = next((one for one in slots_visible_to(user) if one.slot == slot), None)
    if found is None:
        raise SlotNotFound(f"no slot {slot!r} works for you now")
    try:
        # Whoever fetches one screen wants the next: nobody else may be watching.
        _board().watch(found.run_id or found.evaluation_id)
        return found, _board().frame(slot)
    except (RedisError, OSError) as error:
        raise BoardUnreachable(f"the slot board does not answer: {error}") from error


def cluster_now() -> Cluster:
    """Return the environment workers and their slots, as they last spoke.

    Raises:
        RegistryUnreadable: If Redis does not answer; never taken for an empty cluster.
    """
    return cluster_of(workers().read())


def events_newest(num: int) -> list[Happened]:
    """Return what happened in the cluster lately, newest first.

    Raises:
        RegistryUnreadable: If Redis does not answer.
    """
    return _events().newest(num)


@lru_cache(maxsize=1)
def workers() -> Registry[EnvironmentWorker]:
    """Return this process's connection to the registry of environment workers."""
    return worker_registry(connect(settings.REDIS_URL))


@lru_cache(maxsize=1)
def _events() -> EventLog:
    return EventLog(connect(settings.REDIS_URL))


@lru_cache(maxsize=1)
def _board() -> FrameStore:
    return FrameStore(settings.REDIS_URL)
