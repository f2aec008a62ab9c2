"""What is asked of workers, on a real Redis."""

import pytest

from environments import selectors
from environments.errors import WorkerNotFound, WorkerSilent
from environments.events import Event
from environments.selectors import (
    cluster_now,
    cluster_visible_to,
    event_log,
    events_visible_to,
    may_manage_workers,
)
from environments.services.workers import (
    worker_drain,
    worker_restart,
    worker_resume,
    workers_note_lost,
)
from studio.common.registry import RegistryUnreadable, Wish
from tests.factories import UserFactory
from tests.workers import announce, play, registry_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def redis(cluster_redis):
    return cluster_redis


def test_a_worker_is_drained_and_resumed_by_its_name(redis):
    announce(redis, "env-0")

    worker_drain(name="env-0", who="admin")
    drained = registry_of(redis).wish("env-0")
    worker_resume(name="env-0", who="admin")

    assert drained == Wish(is_drained=True)
    assert registry_of(redis).wish("env-0") == Wish()


def test_a_restart_is_asked_of_the_present_life(redis):
    announce(redis, "env-0")
    announce(redis, "env-0")

    worker_restart(name="env-0", who="admin")

    assert registry_of(redis).wish("env-0") == Wish(restart_fence=2)


@pytest.mark.parametrize("ask", [worker_drain, worker_resume, worker_restart])
def test_nothing_is_asked_of_somebody_unknown_or_silent(redis, ask):
    announce(redis, "lost", silent_s=60)
    announce(redis, "gone", intake="ended")

    with pytest.raises(WorkerNotFound, match="'nobody'"):
        ask(name="nobody", who="admin")
    with pytest.raises(WorkerSilent, match="lost is lost: it was last heard of 60 s"):
        ask(name="lost", who="admin")
    with pytest.raises(WorkerSilent, match="gone is ended"):
        ask(name="gone", who="admin")


def test_a_registry_out_of_reach_is_said_so(settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    selectors.workers.cache_clear()

    with pytest.raises(RegistryUnreadable):
        worker_drain(name="env-0", who="admin")


def test_a_worker_that_fell_silent_is_told_of_once(redis):
    announce(redis, "env-0", silent_s=11, slots=[play("env-0-0")])
    announce(redis, "env-1")

    for _ in range(3):
        workers_note_lost()

    (one,) = event_log().newest(9)
    assert (one.event.kind, one.event.worker) == ("lost", "env-0")
    assert one.event.text.endswith("rolled again: 1")


def test_who_fell_silent_is_not_guessed_without_redis(settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    selectors.workers.cache_clear()

    workers_note_lost()


def test_of_others_episodes_one_sees_that_they_are_played_and_nothing_more(
    redis, alice, mallory
):
    announce(
        redis,
        "env-0",
        slots=[play("env-0-0", owner=alice), play("env-0-1", owner=mallory)],
        last_error="env_step: alice's page",
    )

    ((seen, _),) = cluster_visible_to(mallory).workers

    theirs, own = seen.entry.slots
    assert (theirs.state, theirs.for_s) == ("acting", 3.0)
    assert (
        theirs.model_copy(update={"state": "idle", "for_s": 0.0}).model_dump(
            exclude={"slot"}, exclude_defaults=True
        )
        == {}
    )
    assert own.task == "miniwob/click-test"
    assert seen.entry.last_error == ""


def test_an_administrator_sees_all(redis, alice):
    announce(redis, "env-0", slots=[play("env-0-0", owner=alice)], last_error="x")

    ((seen, _),) = cluster_visible_to(UserFactory(is_superuser=True)).workers

    assert seen.entry == cluster_now().workers[0][0].entry
    assert seen.entry.slots[0].owner_id == alice.pk
    assert seen.entry.last_error == "x"


def test_the_task_of_an_event_is_told_to_its_owner_alone(redis, alice, mallory):
    event_log().note(
        Event(
            kind="fault",
            worker="w",
            text="slot 1 met a fault: env_step",
            task="miniwob/click-test",
            owner_id=alice.pk,
        )
    )

    (own,) = events_visible_to(alice, num=9)
    (others,) = events_visible_to(mallory, num=9)

    assert own.event.task == "miniwob/click-test"
    assert (others.event.task, others.event.owner_id) == ("", None)
    assert others.event.text == own.event.text


@pytest.mark.parametrize(
    ("fields", "may"),
    [({}, False), ({"is_staff": True}, True), ({"is_superuser": True}, True)],
)
def test_staff_and_administrators_manage_workers(fields, may):
    assert may_manage_workers(UserFactory(**fields)) is may
