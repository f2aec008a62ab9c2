import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from environments.workers import SlotEntry
from tests.factories import EvaluationFactory, RunFactory, TrajectoryFactory
from tests.workers import announce, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


def text_of(response):
    return re.sub(r"\s+", " ", response.content.decode())


def ended(run, minutes_ago, **more):
    return TrajectoryFactory.create(
        run=run,
        owner=run.owner,
        finished_at=timezone.now() - timedelta(minutes=minutes_ago),
        **more,
    )


def test_a_visitor_is_led_to_the_sign_in_page(client):
    assert client.get("/").url == "/sign-in/?next=/"


def test_somebody_without_runs_gets_three_ways_to_begin(signed_in):
    page = text_of(signed_in.get("/"))

    assert f'action="{reverse("training:quickstart")}"' in page
    assert reverse("training:dataset-new") in page
    assert "Connect a model" in page


def test_active_runs_are_shown_with_their_progress(signed_in, alice):
    RunFactory.create(
        owner=alice,
        name="night shift",
        running=True,
        optimizer_step=10,
        config={"kind": "rl", "max_optimizer_steps": 40},
    )

    page = text_of(signed_in.get("/"))

    assert "night shift" in page
    assert "10 of 40 optimizer steps" in page
    assert 'value="25"' in page


def test_the_numbers_of_the_last_minutes_count_what_ended_in_them(signed_in, alice):
    run = RunFactory.create(owner=alice)
    ended(run, 2, solved=True)
    ended(run, 3, unsolved=True)
    ended(run, 30, solved=True)
    ended(run, 30, status="faulted")
    ended(run, 90, solved=True)

    activity = signed_in.get("/").context["activity"]

    # Two steps each, two episodes within ten minutes.
    assert activity.actions_per_minute == pytest.approx(0.4)
    assert activity.success == 0.5
    assert (activity.num_faulted, activity.num_ended) == (1, 4)
    assert len(activity.minutes) == 61


def test_finished_runs_carry_their_newest_held_out_success(signed_in, alice):
    run = RunFactory.create(owner=alice, status="succeeded", finished_at=timezone.now())
    for minutes, rate in ((9, 0.25), (1, 0.75)):
        EvaluationFactory.create(
            run=run,
            owner=alice,
            status="finished",
            success_rate=rate,
            finished_at=timezone.now() - timedelta(minutes=minutes),
        )

    (finished,) = signed_in.get("/").context["finished"]

    assert finished.held_out == 0.75


def test_the_page_answers_when_redis_does_not(signed_in, alice):
    RunFactory.create(owner=alice)

    response = signed_in.get("/")

    assert not response.context["cluster"].is_reachable
    assert "Redis does not answer" in text_of(response)


def test_the_strip_counts_every_slot_that_there_is(signed_in, alice, cluster_redis):
    RunFactory.create(owner=alice)
    announce(cluster_redis, "env-0", slots=[play("a"), play("b"), SlotEntry(slot="c")])
    announce(cluster_redis, "env-1", silent_s=30)

    response = signed_in.get("/")

    assert len(response.context["cluster"].slots) == 4
    assert "2 busy, 1 idle, 1 lost" in text_of(response)


def test_strangers_work_is_not_shown(client, mallory, alice):
    ended(RunFactory.create(owner=alice, name="night shift", running=True), 1)
    RunFactory.create(owner=mallory)
    client.force_login(mallory)

    response = client.get("/")

    assert "night shift" not in text_of(response)
    assert response.context["activity"].num_ended == 0


def test_more_runs_need_no_more_queries(
    signed_in, alice, django_assert_max_num_queries
):
    for number in range(15):
        RunFactory.create(owner=alice, running=bool(number % 2))
        RunFactory.create(owner=alice, status="succeeded", finished_at=timezone.now())

    with django_assert_max_num_queries(12):
        signed_in.get("/")


def test_the_pulse_answers_regions_and_no_page(signed_in, alice):
    RunFactory.create(owner=alice, running=True)

    page = text_of(signed_in.get(reverse("pages:home-pulse")))

    assert "<html" not in page
    for region in ("r-strip", "r-active", "r-cluster", "r-last"):
        assert f'id="{region}"' in page
