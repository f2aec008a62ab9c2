"""The cluster's page: what it says, to whom, and who may do what there."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from environments.events import Event
from environments.selectors import event_log
from environments.workers import PREFIX
from studio.common.registry import Wish
from studio.common.version import code_version
from tests.factories import UserFactory
from tests.workers import announce, forget, play, registry_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


@pytest.fixture
def staff(client):
    client.force_login(UserFactory(is_staff=True))
    return client


def text_of(response):
    page = html.unescape(response.content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def words_of(response):
    """Return what the page says, without the shell around it."""
    return text_of(response).partition("Live")[2]


def act(client, name, action, **more):
    return client.post(reverse("pages:worker-action", args=[name, action]), **more)


def test_a_visitor_is_led_to_the_sign_in_page(client):
    for route in ("pages:cluster", "pages:cluster-pulse"):
        assert client.get(reverse(route)).url.startswith("/sign-in/")
    assert act(client, "env-0", "drain").url.startswith("/sign-in/")


def test_workers_and_slots_are_shown_with_what_they_do(signed_in, cluster_redis, alice):
    announce(
        cluster_redis,
        "env-0",
        slots=[play("env-0-0", owner=alice, num_episodes=41)],
        own_bytes=200 * 2**20,
        browser_bytes=100 * 2**20,
        num_episodes_last_min=23,
        num_restarts=5,
        code=code_version(),
    )

    page = words_of(signed_in.get("/cluster/"))

    for said in (
        "env-0",
        "Healthy",
        "1 of 1 slots play",
        "300.0 MB",
        "miniwob/click-test",
        "2 of 9",
        "3.0 s",
        "23",
        "41",
    ):
        assert said in page, said
    assert "other code" not in page


def test_a_worker_of_another_release_is_marked(signed_in, cluster_redis):
    announce(cluster_redis, "env-0", code="0ther")

    assert "other code" in words_of(signed_in.get("/cluster/"))


def test_of_others_episodes_the_page_says_that_they_are_played_and_no_more(
    client, mallory, cluster_redis, alice
):
    announce(
        cluster_redis,
        "env-0",
        slots=[play("env-0-0", owner=alice)],
        last_error="env_step: the shop of alice",
    )
    event_log().note(
        Event(
            kind="fault",
            worker="env-0",
            text="slot 0 met a fault: env_step",
            task="miniwob/click-test",
            owner_id=alice.pk,
        )
    )
    client.force_login(mallory)

    response = client.get("/cluster/")

    whole = response.content.decode()
    assert "busy" in words_of(response)
    assert "slot 0 met a fault: env_step" in words_of(response)
    for hidden in ("click-test", "6f0e2bb0", "shop of alice"):
        assert hidden not in whole


def test_a_lost_worker_is_an_alarm_and_its_slots_are_out(signed_in, cluster_redis):
    announce(cluster_redis, "env-0", silent_s=180)

    page = words_of(signed_in.get("/cluster/"))

    assert "env-0 has not been heard of for 3 min 00 s" in page
    assert "end process 77 on here" in page
    assert "0 of 1" in page
    assert "Lost" in page


def test_a_lost_worker_that_nobody_supervises_must_be_started_by_somebody(
    signed_in, cluster_redis
):
    announce(cluster_redis, "env-0", silent_s=180, is_supervised=False)

    assert "start it again on here" in words_of(signed_in.get("/cluster/"))


def test_an_empty_cluster_says_what_to_do(signed_in, cluster_redis):
    page = words_of(signed_in.get("/cluster/"))

    assert "Nobody has announced itself" in page
    assert "./oche up" in page


@pytest.mark.parametrize("breaking", ["no server", "garbage"])
def test_a_registry_that_cannot_be_read_is_never_an_empty_cluster(
    signed_in, cluster_redis, settings, breaking
):
    announce(cluster_redis, "env-0")
    if breaking == "garbage":
        cluster_redis.delete(f"{PREFIX}index")
        cluster_redis.set(f"{PREFIX}index", "x")
    else:
        settings.REDIS_URL = "unix:///nowhere/redis.sock"
        forget()

    page = words_of(signed_in.get("/cluster/"))

    assert "The cluster cannot be read" in page
    assert "Not known" in page
    assert "Nobody has announced itself" not in page


def test_an_entry_that_cannot_be_read_is_named_beside_the_others(
    signed_in, cluster_redis
):
    announce(cluster_redis, "env-0")
    announce(cluster_redis, "env-1")
    cluster_redis.set(f"{PREFIX}entry:env-1#1", "<b>not json")

    page = words_of(signed_in.get("/cluster/"))

    assert "A worker’s entry cannot be read" in page
    assert "env-0" in page


def test_names_are_shown_and_not_run(signed_in, cluster_redis):
    announce(cluster_redis, "<script>alert(1)</script>")

    whole = signed_in.get("/cluster/").content.decode()

    assert "<script>alert" not in whole


def test_only_staff_is_offered_to_drain_and_restart(client, cluster_redis, alice):
    announce(cluster_redis, "env-0")
    for user, is_offered in ((alice, False), (UserFactory(is_staff=True), True)):
        client.force_login(user)

        whole = client.get("/cluster/").content.decode()

        assert ("b-drain-env-0" in whole) is is_offered
        assert ("dialog-restart" in whole) is is_offered


@pytest.mark.parametrize("action", ["drain", "resume", "restart"])
def test_who_is_not_staff_changes_nothing(signed_in, cluster_redis, action):
    announce(cluster_redis, "env-0")

    response = act(signed_in, "env-0", action)

    assert response.status_code == 403
    assert registry_of(cluster_redis).wish("env-0") == Wish()


@pytest.mark.parametrize(
    ("action", "wish"),
    [
        ("drain", Wish(is_drained=True)),
        ("resume", Wish()),
        ("restart", Wish(restart_fence=1)),
    ],
)
def test_staff_asks_a_worker_and_is_told_what_comes(staff, cluster_redis, action, wish):
    announce(cluster_redis, "env-0")

    response = act(staff, "env-0", action, follow=True)

    assert registry_of(cluster_redis).wish("env-0") == wish
    assert "env-0" in text_of(response).partition("What happened")[2]


def test_asking_takes_a_post_with_its_token(cluster_redis):
    announce(cluster_redis, "env-0")
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory(is_staff=True))

    assert act(client, "env-0", "drain").status_code == 403
    path = reverse("pages:worker-action", args=["env-0", "drain"])
    assert client.get(path).status_code == 405
    assert registry_of(cluster_redis).wish("env-0") == Wish()


def test_what_is_asked_of_nobody_does_nothing_and_says_so(staff, cluster_redis):
    announce(cluster_redis, "env-0", silent_s=60)

    silent = text_of(act(staff, "env-0", "drain", follow=True))
    unknown = text_of(act(staff, "env-9", "drain", follow=True))

    assert "Nothing done: env-0 is lost" in silent
    assert "Nothing done: no environment worker 'env-9'" in unknown
    assert act(staff, "env-0", "explode").status_code == 404


def test_the_pulse_answers_regions_and_no_page(signed_in, cluster_redis):
    page = signed_in.get("/cluster/pulse/").content.decode()

    assert "<html" not in page
    for region in ("notes", "strip", "machines", "workers", "slots", "events"):
        assert f'id="r-{region}"' in page


def test_a_large_cluster_is_cut_on_the_page(signed_in, cluster_redis):
    announce(cluster_redis, "env-0", slots=[play(f"s-{n}") for n in range(100)])

    page = words_of(signed_in.get("/cluster/"))

    assert "36 more" in page
