import csv
import json
import re

import pytest
from django.urls import reverse

from tests.factories import (
    CheckpointFactory,
    DatasetFactory,
    EvaluationFactory,
    GroupFactory,
    MetricRowFactory,
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
)
from training.models import Run
from training.presets import PRESETS
from training.services.transitions import run_transition
from training.states import RunStatus

pytestmark = pytest.mark.django_db

POSSIBLE = {
    RunStatus.DRAFT: {"resume"},
    RunStatus.QUEUED: {"stop"},
    RunStatus.STARTING: {"stop"},
    RunStatus.RUNNING: {"stop", "pause"},
    RunStatus.PAUSED: {"stop", "resume"},
    RunStatus.STOPPING: set(),
    RunStatus.STOPPED: {"resume"},
    RunStatus.FAILED: {"resume"},
    RunStatus.SUCCEEDED: set(),
}
PAGES = ("run", "run-live", "run-trajectories", "run-config", "run-pulse", "run-csv")


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


@pytest.fixture
def run(alice):
    run = RunFactory.create(
        owner=alice, name="night shift", running=True, optimizer_step=2, last_seq=4
    )
    for step in (1, 2):
        MetricRowFactory.create(
            run=run,
            seq=step * 2 - 1,
            step=step,
            source="rollouts",
            values={"rollout/success_rate": 0.25 * step},
        )
        MetricRowFactory.create(run=run, seq=step * 2, step=step)
    return run


def text_of(response):
    return re.sub(r"\s+", " ", response.content.decode())


@pytest.mark.parametrize("page", PAGES)
def test_a_runs_pages_show_it_to_its_owner(signed_in, run, page):
    response = signed_in.get(reverse(f"training:{page}", args=[run.pk]))

    assert response.status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_a_strangers_run_is_not_there(client, mallory, run, page):
    client.force_login(mallory)

    assert client.get(reverse(f"training:{page}", args=[run.pk])).status_code == 404


@pytest.mark.parametrize("page", ["runs", "run-new"])
def test_a_visitor_is_led_to_the_sign_in_page(client, page):
    address = reverse(f"training:{page}")

    response = client.get(address)

    assert response.url == f"/sign-in/?next={address}"


def test_a_visitor_sees_no_run(client, run):
    for page in PAGES:
        response = client.get(reverse(f"training:{page}", args=[run.pk]))
        assert response.status_code == 302
        assert response.url.startswith("/sign-in/")


def test_the_list_is_filtered_by_status_and_counts_all(signed_in, alice, run):
    RunFactory.create(owner=alice, name="sketch")

    page = text_of(signed_in.get(reverse("training:runs"), {"status": "draft"}))

    assert "sketch" in page
    assert "night shift" not in page
    assert "All <span>2</span>" in page


def test_the_list_is_sorted_as_its_address_says(signed_in, alice):
    for name in ("b", "a", "c"):
        RunFactory.create(owner=alice, name=f"run-{name}")

    page = text_of(signed_in.get(reverse("training:runs"), {"order": "name"}))

    assert re.findall(r'title="(run-.)"', page) == ["run-a", "run-b", "run-c"]


def test_an_order_that_no_column_has_is_ignored(signed_in, run):
    response = signed_in.get(
        reverse("training:runs"), {"order": "owner__password", "page": "99"}
    )

    assert response.status_code == 200
    assert response.context["order"] == "-created"


def test_a_list_without_runs_says_how_to_begin(signed_in):
    assert "Start the quickstart" in text_of(signed_in.get(reverse("training:runs")))


def test_strangers_runs_are_not_in_the_list(client, mallory, run):
    client.force_login(mallory)

    assert "night shift" not in text_of(client.get(reverse("training:runs")))


def test_the_overview_carries_its_charts_as_data(signed_in, run):
    response = signed_in.get(reverse("training:run", args=[run.pk]))

    found = re.search(
        r'<script id="chart-data" type="application/json">(.*?)</script>',
        response.content.decode(),
    )
    data = json.loads(found[1])
    success = data["charts"]["success"]["traces"][0]
    assert data["seq"] == 4
    assert success["steps"] == [1, 2]
    assert success["values"] == [0.25, 0.5]
    assert "Success rate goes from 25.0 % to 50.0 %" in response.content.decode()


def test_an_empty_chart_says_when_the_first_point_comes(signed_in, alice):
    run = RunFactory.create(owner=alice, running=True)

    page = text_of(signed_in.get(reverse("training:run", args=[run.pk])))

    assert "The first point comes after optimizer step 1" in page


@pytest.mark.parametrize("status", RunStatus)
def test_a_run_offers_only_what_is_possible(signed_in, alice, status):
    run = RunFactory.create(owner=alice, status=status)

    page = text_of(signed_in.get(reverse("training:run", args=[run.pk])))

    offered = set(re.findall(r'id="b-(\w+)"', page))
    assert offered == POSSIBLE[status]


def test_stopping_moves_the_run_and_says_so(signed_in, run):
    address = reverse("training:run-action", args=[run.pk, "stop"])

    response = signed_in.post(address, follow=True)

    run.refresh_from_db()
    assert run.status == RunStatus.STOPPING
    assert run.transitions.get().who == "alice"
    assert "stops after its present optimizer step" in text_of(response)


def test_a_click_that_came_too_late_does_nothing(signed_in, run):
    run_transition(run_id=run.pk, to=RunStatus.SUCCEEDED)

    response = signed_in.post(
        reverse("training:run-action", args=[run.pk, "stop"]), follow=True
    )

    assert "Nothing done" in text_of(response)
    assert run.transitions.count() == 1


def test_a_stranger_cannot_stop_a_run(client, mallory, run):
    client.force_login(mallory)

    response = client.post(reverse("training:run-action", args=[run.pk, "stop"]))

    run.refresh_from_db()
    assert response.status_code == 404
    assert run.status == RunStatus.RUNNING


def test_an_action_that_does_not_exist_is_not_found(signed_in, run):
    address = reverse("training:run-action", args=[run.pk, "explode"])

    assert signed_in.post(address).status_code == 404


def test_the_table_of_measurements_has_a_line_for_each_row(signed_in, run):
    response = signed_in.get(reverse("training:run-csv", args=[run.pk]))

    table = list(csv.DictReader(response.content.decode().splitlines()))
    assert [row["seq"] for row in table] == ["1", "2", "3", "4"]
    assert table[2]["rollout/success_rate"] == "0.5"


def test_a_page_asks_no_more_of_the_database_when_there_is_more_to_show(
    signed_in, alice, run, django_assert_max_num_queries
):
    def addresses():
        yield reverse("training:runs")
        yield reverse("training:run", args=[run.pk])
        yield reverse("training:run-pulse", args=[run.pk])
        yield reverse("training:run-trajectories", args=[run.pk])

    task = TaskFactory.create()
    for number in range(30):
        RunFactory.create(owner=alice, running=True)
        group = GroupFactory.create(run=run, task=task)
        TrajectoryFactory.create(
            solved=True, run=run, group=group, task=task, owner=alice, index=number
        )
    EvaluationFactory.create(run=run, owner=alice, status="finished", success_rate=0.5)
    CheckpointFactory.create(run=run)

    for address in addresses():
        with django_assert_max_num_queries(18):
            assert signed_in.get(address).status_code == 200


# -- The form ----------------------------------------------------------------------------


def quickstart_tasks():
    for name in PRESETS["quickstart"]["tasks"]:
        TaskFactory.create(name=name.partition("/")[2])


def test_the_form_shows_default_range_and_sentence_of_a_field(signed_in):
    page = text_of(signed_in.get(reverse("training:run-new")))

    assert "2 – 256, default 8. Rollouts of one task and seed" in page


def test_the_form_starts_a_run_with_what_was_changed(signed_in, alice, monkeypatch):
    quickstart_tasks()
    monkeypatch.setattr("training.services.runs.policy_resolve", lambda **given: None)

    response = signed_in.post(
        reverse("training:run-new"),
        {
            "preset": "quickstart",
            "name": "mine",
            "policy": "oche-tiny",
            "tasks": ["miniwob/fill-nth"],
            "grpo.group_size": "4",
        },
    )

    run = Run.objects.get()
    assert response.url == reverse("training:run", args=[run.pk])
    assert (run.owner, run.name, run.status) == (alice, "mine", RunStatus.QUEUED)
    assert run.config["tasks"] == ["miniwob/fill-nth"]
    assert run.config["grpo"]["group_size"] == 4
    assert run.config["grpo"]["groups_per_step"] == 8


def test_a_draft_is_kept_without_being_started(signed_in, monkeypatch):
    quickstart_tasks()
    monkeypatch.setattr("training.services.runs.policy_resolve", lambda **given: None)

    signed_in.post(
        reverse("training:run-new"),
        {
            "preset": "quickstart",
            "name": "later",
            "policy": "oche-tiny",
            "tasks": ["miniwob/fill-nth"],
            "draft": "1",
        },
    )

    assert Run.objects.get().status == RunStatus.DRAFT


def test_every_mistake_stands_at_its_field(signed_in):
    response = signed_in.post(
        reverse("training:run-new"),
        {
            "preset": "quickstart",
            "name": "x",
            "policy": "oche-tiny",
            "grpo.group_size": "1",
            "grpo.clip_high": "0.1",
            "optimizer.learning_rate": "fast",
        },
    )

    errors = response.context["form"].errors
    assert set(errors) == {"grpo.group_size", "optimizer.learning_rate", "tasks"}
    assert "greater than or equal to 2" in text_of(response)
    assert not Run.objects.exists()


def test_a_rule_about_two_fields_is_shown_at_the_first(signed_in):
    response = signed_in.post(
        reverse("training:run-new"),
        {
            "preset": "quickstart",
            "name": "x",
            "policy": "oche-tiny",
            "tasks": ["miniwob/fill-nth"],
            "grpo.clip_high": "0.1",
        },
    )

    errors = response.context["form"].errors
    assert errors["grpo.clip_high"][0].startswith("Clip_high (0.1) must not be below")


def test_a_policy_that_does_not_exist_is_named_at_its_field(signed_in):
    quickstart_tasks()

    response = signed_in.post(
        reverse("training:run-new"),
        {
            "preset": "quickstart",
            "name": "x",
            "policy": "no-such",
            "tasks": ["miniwob/fill-nth"],
        },
    )

    assert "no policy named 'no-such'" in response.context["form"].errors["policy"][0]


def test_a_data_set_fills_in_the_form_that_trains_on_it(signed_in, alice):
    dataset = DatasetFactory.create(owner=alice, name="logins")

    page = text_of(
        signed_in.get(
            reverse("training:run-new"), {"preset": "sft", "dataset": dataset.pk}
        )
    )

    assert f'<option value="{dataset.pk}" selected>logins' in page


def test_strangers_data_sets_are_not_offered(client, mallory, alice):
    DatasetFactory.create(owner=alice, name="logins")
    client.force_login(mallory)

    page = client.get(reverse("training:run-new"), {"preset": "sft"})

    assert "logins" not in text_of(page)


def test_the_quickstart_begins_with_one_click(signed_in, alice, monkeypatch):
    quickstart_tasks()
    monkeypatch.setattr("training.services.runs.policy_resolve", lambda **given: None)
    RunFactory.create(owner=alice, name="quickstart")

    response = signed_in.post(reverse("training:quickstart"))

    run = Run.objects.get(name="quickstart-2")
    assert response.url == reverse("training:run", args=[run.pk])
    assert run.status == RunStatus.QUEUED
    assert run.config["max_optimizer_steps"] == 40


def test_a_quickstart_that_cannot_begin_says_why(signed_in, monkeypatch):
    monkeypatch.setattr("training.services.runs.policy_resolve", lambda **given: None)

    response = signed_in.post(reverse("training:quickstart"), follow=True)

    assert "there is no task miniwob/fill-nth" in text_of(response)
    assert not Run.objects.exists()
