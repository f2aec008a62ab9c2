"""The whole loop by its rows: only the agent, the engine and the messages are stood in for."""

import shutil

import pytest

from tests.factories import RunFactory, TaskFactory, TrajectoryFactory
from tests.training.services.test_train_steps import FakeEngines
from training.models import Batch, Run, Trajectory
from training.services import starting
from training.services.advancing import run_advance, runs_to_advance
from training.services.ending import run_fail
from training.services.runs import run_pause, run_resume, run_start, run_stop
from training.services.train_steps import batch_train
from training.services.trajectories import (
    Outcome,
    trajectory_claim,
    trajectory_finish,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def policy(settings, tmp_path, media):
    settings.BUNDLED_POLICIES = tmp_path / "bundled"
    folder = settings.BUNDLED_POLICIES / "oche-tiny"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def draft(alice, config):
    TaskFactory()
    return RunFactory(owner=alice, config=config.model_dump(mode="json"))


def play(row, *, version=0):
    """Solve every other rollout of each group."""
    row = trajectory_claim(trajectory_id=row)
    if row is None:
        return
    is_solved = row.index % 2 == 0
    trajectory_finish(
        trajectory=row,
        fence=row.fence,
        outcome=Outcome(
            end_reason="solved" if is_solved else "unsolved",
            reward=float(is_solved),
            num_steps=2,
            min_version=version,
            max_version=version,
            path=f"runs/{row.run_id}/trajectories/{row.pk}",
        ),
    )


def test_a_run_learns_step_by_step_to_its_end(
    draft, sent, served, django_capture_on_commit_callbacks
):
    engines = FakeEngines()
    with django_capture_on_commit_callbacks(execute=True):
        run_start(run_id=draft.pk, who="alice")

    for _ in range(12):
        with django_capture_on_commit_callbacks(execute=True):
            run_advance(run_id=draft.pk)
        version = Run.objects.get().policy_version
        todo, sent["trajectories"] = sent["trajectories"], []
        for row in todo:
            play(row, version=version)
            play(row, version=version)  # Each message comes twice.
        batches, sent["train_step"] = sent["train_step"], []
        for batch in batches:
            with django_capture_on_commit_callbacks(execute=True):
                batch_train(batch_id=batch, engines=engines)
                batch_train(batch_id=batch, engines=engines)

    draft.refresh_from_db()
    assert (draft.status, draft.optimizer_step) == ("succeeded", 3)
    assert draft.policy_version == 3
    assert [m.step for m in engines.started[0].asked] == [1, 2, 3]
    assert list(draft.checkpoints.values_list("version", flat=True)) == [3, 2, 1, 0]
    sources = list(draft.metrics.values_list("seq", "source"))
    assert [seq for seq, _ in sources] == [1, 2, 3, 4, 5, 6]
    assert draft.groups.filter(status="trained").count() == 6
    assert not draft.trajectories.filter(status__in=("queued", "running")).exists()
    moves = list(draft.transitions.values_list("new_status", flat=True))
    assert moves == ["queued", "starting", "running", "succeeded"]
    assert sent["release_engine"] == [draft.pk]


def test_nothing_is_rolled_out_while_nobody_can_answer(draft, served, sent):
    run_start(run_id=draft.pk, who="alice")
    served(on=False)

    run_advance(run_id=draft.pk)

    draft.refresh_from_db()
    assert (draft.status, draft.reason) == ("starting", "Waits for an inference worker")
    assert not Trajectory.objects.exists()
    assert sent["sync"]


def test_losing_all_inference_workers_holds_a_run_but_does_not_end_it(run, served):
    served(on=False)
    run_advance(run_id=run.pk)
    assert not Trajectory.objects.exists()

    served(on=True)
    run_advance(run_id=run.pk)

    run.refresh_from_db()
    assert run.status == "running"
    assert run.reason == ""
    assert Trajectory.objects.count() == 8


def test_a_policy_that_is_gone_fails_the_run_with_the_reason(draft, policy, served):
    run_start(run_id=draft.pk, who="alice")
    shutil.rmtree(policy)

    run_advance(run_id=draft.pk)

    draft.refresh_from_db()
    assert draft.status == "failed"
    assert "oche-tiny" in draft.reason


def test_runs_wait_for_a_free_trainer_in_order(alice, config, served):
    TaskFactory()
    values = config.model_dump(mode="json")
    for _ in range(starting.RUN_SLOTS):
        RunFactory(owner=alice, running=True, config=values)
    first, second = (
        RunFactory(owner=alice, status="queued", config=values) for _ in range(2)
    )

    for waiting in (second, first):
        run_advance(run_id=waiting.pk)
    assert set(Run.objects.filter(status="queued")) == {first, second}

    Run.objects.filter(status="running").first().delete()
    for waiting in (second, first, second):
        run_advance(run_id=waiting.pk)
    assert set(Run.objects.filter(status="queued")) == {second}


def test_stopping_cancels_what_is_in_flight_and_keeps_what_is_ready(
    run, make_group, served
):
    ready = make_group([1.0, 0.0], status="ready")
    half_done = make_group([1.0], num_rollouts=2)
    waiting = TrajectoryFactory(run=run, group=half_done, index=1)
    run_stop(run_id=run.pk, who="alice")

    run_advance(run_id=run.pk)

    for row in (run, ready, half_done, waiting):
        row.refresh_from_db()
    assert run.status == "stopped"
    assert waiting.status == "cancelled"
    assert (half_done.status, half_done.drop_reason) == ("dropped", "run_over")
    assert ready.status == "ready"


def test_stopping_waits_for_the_optimizer_step(run, make_group, served):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    run_advance(run_id=run.pk)
    batch = Batch.objects.get()
    engines = FakeEngines()

    def stop_meanwhile(*args):
        run_stop(run_id=run.pk, who="alice")
        run_advance(run_id=run.pk)
        assert Run.objects.get().status == "stopping"
        return engines.engine_for(*args)

    stopping_engines = FakeEngines()
    stopping_engines.engine_for = stop_meanwhile
    batch_train(batch_id=batch.pk, engines=stopping_engines)
    run_advance(run_id=run.pk)

    run.refresh_from_db()
    assert (run.status, run.optimizer_step) == ("stopped", 1)


def test_a_batch_that_came_in_a_pause_is_sent_when_it_is_over(
    run, make_group, served, sent, django_capture_on_commit_callbacks
):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    run_advance(run_id=run.pk)
    batch = Batch.objects.get()
    run_pause(run_id=run.pk, who="alice")
    batch_train(batch_id=batch.pk, engines=FakeEngines())
    assert Run.objects.get().optimizer_step == 0
    run_resume(run_id=run.pk, who="alice")

    with django_capture_on_commit_callbacks(execute=True):
        run_advance(run_id=run.pk)

    assert sent["train_step"] == [batch.pk]


def test_a_resumed_run_goes_on_where_it_stopped(
    run, make_group, served, sent, django_capture_on_commit_callbacks
):
    ready = [make_group([1.0, 0.0], status="ready") for _ in range(2)]
    run_stop(run_id=run.pk, who="alice")
    run_advance(run_id=run.pk)
    run_resume(run_id=run.pk, who="alice")

    with django_capture_on_commit_callbacks(execute=True):
        run_advance(run_id=run.pk)

    run.refresh_from_db()
    assert (run.status, run.attempt) == ("running", 2)
    assert set(Batch.objects.get().groups.all()) == set(ready)


def test_a_run_that_solves_its_tasks_ends_early(run, make_group, served, config):
    values = config.model_dump(mode="json")
    values |= {"stop_at_success": 0.75, "success_window": 8}
    Run.objects.update(config=values, optimizer_step=1)
    for _ in range(4):
        make_group([1.0, 1.0], status="dropped")

    run_advance(run_id=run.pk)

    run.refresh_from_db()
    assert run.status == "succeeded"
    assert "100%" in run.reason


def test_a_run_whose_last_step_ends_in_a_pause_succeeds(run, served, config):
    Run.objects.update(optimizer_step=config.max_optimizer_steps)
    run_pause(run_id=run.pk, who="alice")

    run_advance(run_id=run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == ("succeeded", "All 3 optimizer steps are done")


def test_a_failed_run_leaves_nothing_in_flight(run, make_group, lease):
    half_done = make_group([1.0], num_rollouts=2)
    waiting = TrajectoryFactory(run=run, group=half_done, index=1)

    run_fail(run_id=run.pk, reason="no disk")
    run_fail(run_id=run.pk, reason="again")

    run.refresh_from_db()
    waiting.refresh_from_db()
    assert (run.status, run.reason) == ("failed", "no disk")
    assert waiting.status == "cancelled"


def test_a_run_that_another_manager_holds_is_left_alone(run, lease, served):
    run_advance(run_id=run.pk)

    assert not Trajectory.objects.exists()


def test_what_is_over_needs_nobody(run):
    draft, over = RunFactory(), RunFactory(status="succeeded")
    queued = RunFactory(status="queued")

    assert set(runs_to_advance()) == {run.pk, queued.pk}
    assert draft.pk not in runs_to_advance()
    assert over.pk not in runs_to_advance()
