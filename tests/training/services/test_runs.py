import shutil

import pytest

from tests.factories import DatasetFactory, RunFactory, TaskFactory
from training.config import RlConfig, SftConfig
from training.errors import (
    DatasetNotReady,
    InvalidTransition,
    PolicyNotFound,
    TaskNotFound,
)
from training.models import Run
from training.services.runs import (
    run_create,
    run_pause,
    run_resume,
    run_start,
    run_stop,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def policy(settings, tmp_path):
    """A policy named ``tiny``, of which only the weights' hash is ever looked at."""
    settings.BUNDLED_POLICIES = tmp_path / "bundled"
    folder = settings.BUNDLED_POLICIES / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    yield folder
    shutil.rmtree(settings.BUNDLED_POLICIES, ignore_errors=True)


def rl(**changes):
    values = {"kind": "rl", "policy": "tiny", "tasks": ["miniwob/click-test"]}
    return RlConfig.model_validate(values | changes)


def test_a_new_run_is_a_draft_with_the_whole_configuration(alice, sent):
    TaskFactory()

    run = run_create(owner=alice, name="first", config=rl())

    assert run.status == "draft"
    assert run.config["grpo"]["group_size"] == 8
    assert sent["advance"] == []


def test_a_task_that_does_not_exist_is_named(alice):
    TaskFactory()
    config = rl(tasks=["miniwob/click-test", "miniwob/nonsense"])

    with pytest.raises(TaskNotFound, match="no task miniwob/nonsense"):
        run_create(owner=alice, name="first", config=config)


@pytest.mark.parametrize("reference", ["nobody", "../secret", "/etc/passwd", "a/b"])
def test_a_policy_that_does_not_exist_is_named(alice, reference):
    TaskFactory()

    with pytest.raises(PolicyNotFound):
        run_create(owner=alice, name="first", config=rl(policy=reference))


def test_someone_elses_data_set_does_not_exist(alice, mallory):
    dataset = DatasetFactory(owner=alice)
    config = SftConfig(kind="sft", policy="tiny", dataset=str(dataset.pk))

    with pytest.raises(DatasetNotReady):
        run_create(owner=mallory, name="thief", config=config)
    assert run_create(owner=alice, name="mine", config=config).kind == "sft"


def test_starting_wakes_a_manager(alice, sent, django_capture_on_commit_callbacks):
    run = RunFactory(owner=alice)

    with django_capture_on_commit_callbacks(execute=True):
        run_start(run_id=run.pk, who="alice")

    assert Run.objects.get().status == "queued"
    assert sent["advance"] == [run.pk]


@pytest.mark.parametrize("status", ["queued", "running", "stopped", "succeeded"])
def test_only_a_draft_is_started(status):
    run = RunFactory(status=status)

    with pytest.raises(InvalidTransition):
        run_start(run_id=run.pk, who="alice")


def test_a_waiting_run_stops_at_once():
    run = RunFactory(status="queued")

    run_stop(run_id=run.pk, who="alice")

    assert Run.objects.get().status == "stopped"


def test_resuming_begins_the_next_attempt():
    run = RunFactory(status="failed")

    run_resume(run_id=run.pk, who="alice")

    run.refresh_from_db()
    assert (run.status, run.attempt) == ("queued", 2)


def test_a_paused_run_goes_on_in_the_same_attempt(run):
    run_pause(run_id=run.pk, who="alice")

    run_resume(run_id=run.pk, who="alice")

    run.refresh_from_db()
    assert (run.status, run.attempt) == ("running", 1)


def test_a_run_that_is_done_is_not_resumed():
    run = RunFactory(status="succeeded")

    with pytest.raises(InvalidTransition):
        run_resume(run_id=run.pk, who="alice")
