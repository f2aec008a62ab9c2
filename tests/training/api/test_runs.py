import pytest
from django.contrib.auth.models import User

from tests.factories import (
    BatchFactory,
    CheckpointFactory,
    DatasetFactory,
    GroupFactory,
    RunFactory,
)
from training.models import Run
from training.services.transitions import run_transition
from training.states import RunStatus

RUNS = "/api/v1/runs/"
RL = {"kind": "rl", "tasks": ["miniwob/click-test"]}


def test_creating_a_run_keeps_a_draft_with_its_whole_configuration(api, task):
    response = api.post(RUNS, {"name": "first", "config": RL})

    assert response.status_code == 201
    assert response.data["status"] == RunStatus.DRAFT
    assert response.data["kind"] == "rl"
    assert response.data["owner"] == "alice"
    assert Run.objects.get().config["grpo"]["group_size"] == 8


def test_a_preset_is_a_configuration_with_some_fields_changed(api, task):
    overrides = {"tasks": ["miniwob/click-test"], "grpo": {"group_size": 4}}

    response = api.post(
        RUNS, {"name": "first", "preset": "quickstart", "overrides": overrides}
    )

    assert response.status_code == 201
    config = Run.objects.get().config
    assert config["preset"] == "quickstart"
    assert config["grpo"]["group_size"] == 4
    assert config["grpo"]["kl_coefficient"] == 0.0  # The preset's, not the default.


def test_every_mistake_in_the_configuration_is_reported_by_its_path(api, task):
    config = RL | {
        "grpo": {"group_size": 1, "grup": 4},
        "rollout": {"temperature": "warm"},
        "tasks": [],
    }

    response = api.post(RUNS, {"name": "", "config": config})

    assert response.status_code == 400
    assert response.data["code"] == "invalid"
    assert set(response.data["errors"]) == {
        "name",
        "config.grpo.group_size",
        "config.grpo.grup",
        "config.rollout.temperature",
        "config.tasks",
    }


def test_a_mistake_between_two_fields_says_the_arithmetic(api, task):
    config = RL | {"grpo": {"clip_low": 0.3, "clip_high": 0.2}}

    response = api.post(RUNS, {"name": "x", "config": config})

    assert response.data["errors"] == {
        "config.grpo": ["clip_high (0.2) must not be below clip_low (0.3)"]
    }


@pytest.mark.parametrize("kind", ["dpo", None, ["rl"], {}])
def test_an_unknown_kind_is_a_mistake_of_its_own(api, kind):
    response = api.post(RUNS, {"name": "x", "config": {"kind": kind}})

    assert response.data["errors"] == {
        "config.kind": [f"expected one of rl, sft, found {kind!r}"]
    }


def test_mistakes_in_what_overrides_a_preset_are_found_there(api, task):
    response = api.post(
        RUNS,
        {"name": "x", "preset": "quickstart", "overrides": {"grpo": {"group_size": 1}}},
    )

    assert list(response.data["errors"]) == ["overrides.grpo.group_size"]


def test_an_unknown_preset_is_named(api):
    response = api.post(RUNS, {"name": "x", "preset": "magic"})

    assert list(response.data["errors"]) == ["preset"]


@pytest.mark.parametrize(
    "payload",
    [{}, {"config": RL, "preset": "quickstart"}, {"config": RL, "overrides": {}}],
)
def test_a_run_has_either_a_configuration_or_a_preset(api, task, payload):
    response = api.post(RUNS, {"name": "x"} | payload)

    assert response.status_code == 400
    assert Run.objects.count() == 0


def test_a_configuration_that_is_no_object_is_refused(api):
    response = api.post(RUNS, {"name": "x", "config": "rl"})

    assert list(response.data["errors"]) == ["config"]


def test_every_unknown_task_is_named(api, task):
    config = RL | {"tasks": ["miniwob/nope", "miniwob/click-test", "web/never"]}

    response = api.post(RUNS, {"name": "x", "config": config})

    assert response.status_code == 400
    (reason,) = response.data["errors"]["config.tasks"]
    assert "miniwob/nope" in reason
    assert "web/never" in reason
    assert "click-test" not in reason


def test_an_unknown_policy_is_a_mistake_at_its_field(api, task):
    response = api.post(RUNS, {"name": "x", "config": RL | {"policy": "gpt-9"}})

    assert "gpt-9" in response.data["errors"]["config.policy"][0]


def test_the_data_set_of_a_stranger_is_a_mistake_as_if_there_were_none(api, mallory):
    theirs = DatasetFactory(owner=mallory)
    config = {"kind": "sft", "dataset": str(theirs.pk)}

    response = api.post(RUNS, {"name": "x", "config": config})

    assert "no data set" in response.data["errors"]["config.dataset"][0]


def test_json_that_cannot_be_read_is_a_mistake_and_not_a_crash(api):
    response = api.post(RUNS, "{", content_type="application/json")

    assert response.status_code == 400
    assert response.data["code"] == "parse_error"


def test_starting_a_draft_queues_it_and_says_who_did(api, alice):
    run = RunFactory(owner=alice)

    response = api.post(f"{RUNS}{run.pk}/start/")

    assert response.status_code == 200
    assert response.data["status"] == RunStatus.QUEUED
    transitions = api.get(f"{RUNS}{run.pk}/transitions/").data["results"]
    assert [row["new_status"] for row in transitions] == ["queued"]
    assert transitions[0]["who"] == "alice"


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ("start", RunStatus.RUNNING),
        ("stop", RunStatus.SUCCEEDED),
        ("stop", RunStatus.DRAFT),
        ("pause", RunStatus.STOPPED),
        ("resume", RunStatus.SUCCEEDED),
        ("resume", RunStatus.RUNNING),
        ("resume", RunStatus.DRAFT),
    ],
)
def test_what_the_present_status_does_not_allow_is_a_conflict(
    api, alice, action, status
):
    run = RunFactory(owner=alice, status=status)

    response = api.post(f"{RUNS}{run.pk}/{action}/")

    assert response.status_code == 409
    assert response.data["code"] == "training.invalid_transition"
    assert status in response.data["detail"] or "draft" in response.data["detail"]
    run.refresh_from_db()
    assert run.status == status


def test_stopping_and_resuming_move_a_run(api, alice):
    run = RunFactory(owner=alice, running=True)

    stopped = api.post(f"{RUNS}{run.pk}/stop/")
    run_transition(run_id=run.pk, to=RunStatus.STOPPED)
    resumed = api.post(f"{RUNS}{run.pk}/resume/")

    assert stopped.data["status"] == RunStatus.STOPPING
    assert resumed.data["status"] == RunStatus.QUEUED
    assert resumed.data["attempt"] == 2


def test_a_status_cannot_be_written(api, alice):
    run = RunFactory(owner=alice)

    assert api.patch(f"{RUNS}{run.pk}/", {"status": "succeeded"}).status_code == 405
    assert api.put(f"{RUNS}{run.pk}/", {"status": "succeeded"}).status_code == 405
    assert api.delete(f"{RUNS}{run.pk}/").status_code == 405


def test_a_strangers_run_does_not_exist(api, mallory):
    run = RunFactory(owner=mallory)

    assert api.get(f"{RUNS}{run.pk}/").status_code == 404
    assert api.post(f"{RUNS}{run.pk}/stop/").status_code == 404
    assert api.get(f"{RUNS}{run.pk}/metrics/").status_code == 404
    assert api.get(RUNS).data["count"] == 0


def test_an_administrator_sees_every_run(client, api, alice, mallory):
    run = RunFactory(owner=mallory)
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    alice.refresh_from_db()
    api.force_authenticate(alice)

    assert api.get(f"{RUNS}{run.pk}/").data["owner"] == "mallory"


def test_runs_are_filtered_ordered_and_paged(api, alice):
    for name, status in [("b", "running"), ("a", "stopped"), ("c", "draft")]:
        RunFactory(owner=alice, name=name, status=status)

    some = api.get(RUNS, {"status": ["running", "stopped"], "ordering": "name"}).data
    page = api.get(RUNS, {"ordering": "-name", "page_size": 2, "page": 2}).data
    sft = api.get(RUNS, {"kind": "sft"}).data

    assert [run["name"] for run in some["results"]] == ["a", "b"]
    assert (page["count"], [run["name"] for run in page["results"]]) == (3, ["a"])
    assert sft["count"] == 0


def test_a_filter_with_a_value_that_there_is_not_is_a_mistake(api):
    response = api.get(RUNS, {"status": "sleeping"})

    assert response.status_code == 400
    assert list(response.data["errors"]) == ["status"]


def test_checkpoints_say_how_to_refer_to_them(api, alice):
    run = RunFactory(owner=alice)
    CheckpointFactory(run=run, version=1)
    CheckpointFactory(run=run, version=2)

    rows = api.get(f"{RUNS}{run.pk}/checkpoints/").data["results"]
    beside = api.get("/api/v1/checkpoints/", {"run": run.pk}).data["results"]

    assert [row["policy"] for row in rows] == [f"{run.pk}@2", f"{run.pk}@1"]
    assert beside == rows


def test_groups_say_what_became_of_them(api, alice):
    run = RunFactory(owner=alice)
    GroupFactory(run=run, status="dropped", drop_reason="solved")
    GroupFactory(run=run, status="trained", batch=BatchFactory(run=run, step=3))

    rows = api.get(f"{RUNS}{run.pk}/groups/").data["results"]

    assert [(row["status"], row["drop_reason"], row["step"]) for row in rows] == [
        ("dropped", "solved", None),
        ("trained", "", 3),
    ]
    assert rows[0]["task"] == "miniwob/click-test"


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"name": "a", "preset": "\\ud800"}',
        '{"name": "a", "preset": "quickstart", "overrides": {"tasks": ["\\ud800/x"]}}',
    ],
    ids=["nested too deeply", "half a letter", "half a letter within"],
)
def test_json_that_cannot_be_kept_is_a_mistake_of_who_sent_it(api, body):
    response = api.post(RUNS, body, content_type="application/json")

    assert response.status_code == 400
    assert response.data["code"] == "parse_error"


@pytest.mark.parametrize("number", ["inf", "nan"])
def test_numbers_that_json_does_not_have_are_mistakes(api, task, number):
    body = {"name": "a", "preset": "quickstart"}
    overrides = {"grpo": {"kl_coefficient": number}, "first_seed": 10**30}

    response = api.post(RUNS, body | {"overrides": overrides})

    assert response.status_code == 400
    assert {"overrides.grpo.kl_coefficient", "overrides.first_seed"} <= set(
        response.data["errors"]
    )
