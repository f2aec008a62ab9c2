"""The API of the cluster, on a real Redis."""

import pytest
from django.contrib.auth.models import User

from environments.workers import PREFIX
from studio.common.registry import Wish
from tests.workers import announce, cluster_redis, play, redis_url, registry_of

__all__ = ["cluster_redis", "redis_url"]

CLUSTER = "/api/v1/cluster/"


@pytest.fixture
def staff(api, alice):
    """A client of alice, who has become staff."""
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    api.force_authenticate(User.objects.get(pk=alice.pk))
    return api


def test_workers_slots_and_totals_are_told(api, cluster_redis, alice):
    announce(
        cluster_redis,
        "env-0",
        slots=[play("env-0-0", owner=alice), play("env-0-1", state="idle")],
        num_episodes_last_min=7,
        num_orphans=3,
    )
    announce(cluster_redis, "env-1", silent_s=60)

    answer = api.get(CLUSTER).data

    first, second = answer["workers"]
    assert (first["name"], first["fence"], first["state"]) == ("env-0", 1, "serving")
    assert (second["name"], second["state"]) == ("env-1", "lost")
    assert second["heard_s"] == pytest.approx(60, abs=2)
    slot = first["slots"][0]
    assert (slot["state"], slot["task"]) == ("acting", "miniwob/click-test")
    assert slot["in_step_s"] == 3.0
    assert "owner_id" not in slot
    assert answer["totals"] | {"inference_workers": 0} == {
        "slots": 2,
        "slots_announced": 3,
        "environment_workers": 1,
        "lost_workers": 1,
        "inference_workers": 0,
        "trainers": 0,
        "managers": 0,
        "episodes_per_min": 7,
        "orphans": 3,
    }


def test_strangers_episodes_are_busy_and_nothing_more(api, cluster_redis, mallory):
    slots = [play("env-0-0", owner=mallory)]
    announce(cluster_redis, "env-0", slots=slots, last_error="their secret")

    (worker,) = api.get(CLUSTER).data["workers"]

    assert worker["slots"][0]["state"] == "acting"
    assert worker["slots"][0]["task"] == worker["slots"][0]["run_id"] == ""
    assert worker["last_error"] == ""


def test_a_registry_that_cannot_be_read_is_503_and_not_an_empty_list(
    api, cluster_redis
):
    cluster_redis.set(f"{PREFIX}index", "garbage")

    response = api.get(CLUSTER)

    assert response.status_code == 503
    assert response.data["code"] == "studio.registry_unreadable"


def test_an_entry_that_cannot_be_read_is_told_beside_the_others(api, cluster_redis):
    announce(cluster_redis, "env-0")
    announce(cluster_redis, "env-1")
    cluster_redis.set(f"{PREFIX}entry:env-1#1", "{}")

    answer = api.get(CLUSTER).data

    assert [one["name"] for one in answer["workers"]] == ["env-0"]
    assert answer["unreadable"][0].startswith("env-1: host: Field required")


@pytest.mark.parametrize(
    ("action", "wish"),
    [
        ("drain", Wish(is_drained=True)),
        ("resume", Wish()),
        ("restart", Wish(restart_fence=1)),
    ],
)
def test_staff_asks_a_worker(staff, cluster_redis, action, wish):
    announce(cluster_redis, "environments@here")

    response = staff.post(f"{CLUSTER}workers/environments@here/{action}/")

    assert response.status_code == 200
    assert response.data["name"] == "environments@here"
    assert registry_of(cluster_redis).wish("environments@here") == wish


@pytest.mark.parametrize("action", ["drain", "resume", "restart"])
def test_who_is_not_staff_changes_nothing(api, cluster_redis, action):
    announce(cluster_redis, "env-0")

    response = api.post(f"{CLUSTER}workers/env-0/{action}/")

    assert response.status_code == 403
    assert registry_of(cluster_redis).wish("env-0") == Wish()


def test_a_worker_that_would_not_hear_is_409_and_an_unknown_one_404(
    staff, cluster_redis
):
    announce(cluster_redis, "env-0", silent_s=60)

    lost = staff.post(f"{CLUSTER}workers/env-0/drain/")
    unknown = staff.post(f"{CLUSTER}workers/env-9/drain/")

    assert (lost.status_code, lost.data["code"]) == (
        409,
        "environments.worker_silent",
    )
    assert (unknown.status_code, unknown.data["code"]) == (
        404,
        "environments.worker_not_found",
    )
