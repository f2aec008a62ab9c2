"""What may be read of tasks and slots, and by whom."""

from dataclasses import replace
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
from environments.workers import (
    Cluster,
    EnvironmentWorker,
    SlotEntry,
    cluster_of,
    worker_registry,
)
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
    sees_all = _sees_everything(user)
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


def cluster_visible_to(user: "AnyUser") -> Cluster:
    """Return the workers; of slots that work for others only that they do.

    Raises:
        RegistryUnreadable: If Redis does not answer.
    """
    cluster = cluster_now()
    if _sees_everything(user):
        return cluster
    return Cluster(
        workers=tuple(
            (replace(seen, entry=_shown_to(user, seen.entry)), state)
            for seen, state in cluster.workers
        ),
        unreadable=cluster.unreadable,
    )


def events_visible_to(user: "AnyUser", *, num: int) -> list[Happened]:
    """Return what happened lately, newest first; names of others' tasks left out.

    Raises:
        RegistryUnreadable: If Redis does not answer.
    """
    happened = event_log().newest(num)
    if _sees_everything(user):
        return happened
    hidden = {"task": "", "owner_id": None}
    return [
        one
        if one.event.owner_id == user.pk
        else replace(one, event=one.event.model_copy(update=hidden))
        for one in happened
    ]


def may_manage_workers(user: "AnyUser") -> bool:
    """Return whether a user may drain and restart workers."""
    return bool(getattr(user, "is_staff", False) or _sees_everything(user))


@lru_cache(maxsize=1)
def workers() -> Registry[EnvironmentWorker]:
    """Return this process's connection to the registry of environment workers."""
    return worker_registry(connect(settings.REDIS_URL))


@lru_cache(maxsize=1)
def event_log() -> EventLog:
    """Return this process's connection to the list of what happened."""
    return EventLog(connect(settings.REDIS_URL))


def _sees_everything(user: "AnyUser") -> bool:
    return bool(getattr(user, "is_superuser", False))


def _shown_to(user: "AnyUser", entry: EnvironmentWorker) -> EnvironmentWorker:
    slots = tuple(
        slot if slot.owner_id == user.pk else _anonymous(slot) for slot in entry.slots
    )
    # What went wrong may quote what somebody's task is about.
    return entry.model_copy(update={"slots": slots, "last_error": ""})


def _anonymous(slot: SlotEntry) -> SlotEntry:
    return SlotEntry(
        slot=slot.slot,
        state=slot.state,
        for_s=slot.for_s,
        num_episodes=slot.num_episodes,
        num_restarts=slot.num_restarts,
    )


@lru_cache(maxsize=1)
def _board() -> FrameStore:
    return FrameStore(settings.REDIS_URL)
