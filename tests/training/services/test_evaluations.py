from types import SimpleNamespace

import pytest

from tests.factories import (
    CheckpointFactory,
    EvaluationFactory,
    RunFactory,
    TaskFactory,
)
from training.errors import EvaluationInvalid, PolicyNotFound, TaskNotFound
from training.models import Evaluation, Trajectory
from training.services import evaluations
from training.services.evaluations import (
    MAX_IN_FLIGHT,
    evaluation_advance,
    evaluation_cancel,
    evaluation_create,
    evaluations_to_advance,
)
from training.services.trajectories import MAX_TRIES
from training.states import TrajectoryStatus

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def policy(settings, tmp_path, media, monkeypatch):
    """``oche-tiny`` exists, and an inference worker serves it."""
    settings.BUNDLED_POLICIES = tmp_path / "bundled"
    folder = settings.BUNDLED_POLICIES / "oche-tiny"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    worker = SimpleNamespace(models={"policy-oche-tiny": 0})
    monkeypatch.setattr(evaluations, "workers_alive", lambda: [worker])
    return worker


def end(rewards, *, rows=None):
    """Finish what is queued, in order; None breaks."""
    queued = Trajectory.objects.filter(status=TrajectoryStatus.QUEUED)
    for row, reward in zip(queued.order_by("index"), rewards, strict=True):
        if reward is None:
            row.status, row.fault_code = "faulted", "env_step"
        else:
            row.status, row.reward = "finished", reward
            row.end_reason = "solved" if reward > 0.5 else "unsolved"
        row.save()


def test_episodes_take_tasks_in_turn_and_seeds_in_a_row():
    TaskFactory(name="a")
    TaskFactory(name="b")
    evaluation = EvaluationFactory(tasks=["miniwob/a", "miniwob/b"], num_episodes=3)

    evaluation_advance(evaluation_id=evaluation.pk)

    rows = Trajectory.objects.order_by("index").values_list("task__name", "seed")
    assert list(rows) == [
        ("a", 900_000_000),
        ("b", 900_000_001),
        ("a", 900_000_002),
    ]


def test_only_some_episodes_are_in_flight_at_a_time(sent):
    TaskFactory()
    evaluation = EvaluationFactory(num_episodes=40)

    evaluation_advance(evaluation_id=evaluation.pk)
    evaluation_advance(evaluation_id=evaluation.pk)

    assert Trajectory.objects.count() == MAX_IN_FLIGHT


def test_success_is_the_share_solved_by_task_and_over_all():
    TaskFactory(name="a")
    TaskFactory(name="b")
    evaluation = EvaluationFactory(tasks=["miniwob/a", "miniwob/b"], num_episodes=4)
    evaluation_advance(evaluation_id=evaluation.pk)
    end([1.0, 0.0, 1.0, 1.0])

    evaluation_advance(evaluation_id=evaluation.pk)

    evaluation.refresh_from_db()
    assert (evaluation.status, evaluation.success_rate) == ("finished", 0.75)
    assert evaluation.num_finished == 4
    assert evaluation.results == {
        "miniwob/a": {"episodes": 2, "solved": 2},
        "miniwob/b": {"episodes": 2, "solved": 1},
    }


def test_a_broken_episode_is_rolled_again_and_is_no_failure():
    TaskFactory()
    evaluation = EvaluationFactory(num_episodes=2)
    evaluation_advance(evaluation_id=evaluation.pk)
    end([1.0, None])

    evaluation_advance(evaluation_id=evaluation.pk)
    again = Trajectory.objects.get(status=TrajectoryStatus.QUEUED)
    assert (again.index, again.seed) == (1, 900_000_001)
    end([1.0])
    evaluation_advance(evaluation_id=evaluation.pk)

    evaluation.refresh_from_db()
    assert evaluation.success_rate == 1.0


def test_an_episode_that_keeps_breaking_is_left_out():
    TaskFactory()
    evaluation = EvaluationFactory(num_episodes=2)
    evaluation_advance(evaluation_id=evaluation.pk)
    end([1.0, None])
    for _ in range(MAX_TRIES - 1):
        evaluation_advance(evaluation_id=evaluation.pk)
        end([None])

    evaluation_advance(evaluation_id=evaluation.pk)

    evaluation.refresh_from_db()
    assert (evaluation.status, evaluation.success_rate) == ("finished", 1.0)
    assert evaluation.num_finished == 1


def test_nothing_is_played_before_a_worker_has_the_policy(policy, sent):
    TaskFactory()
    policy.models = {}
    evaluation = EvaluationFactory(num_episodes=2)

    evaluation_advance(evaluation_id=evaluation.pk)

    evaluation.refresh_from_db()
    assert evaluation.status == "running"  # So that its weights are wanted.
    assert sent["sync"]
    assert not Trajectory.objects.exists()


def test_the_oracle_and_chance_wait_for_no_inference_worker(policy):
    TaskFactory()
    policy.models = {}
    evaluation = EvaluationFactory(num_episodes=2, policy="oracle")

    evaluation_advance(evaluation_id=evaluation.pk)

    assert Trajectory.objects.filter(status="queued").count() == 2


def test_a_cancelled_evaluation_reports_nothing():
    TaskFactory()
    evaluation = EvaluationFactory(num_episodes=2)
    evaluation_advance(evaluation_id=evaluation.pk)

    evaluation_cancel(evaluation_id=evaluation.pk)
    evaluation_advance(evaluation_id=evaluation.pk)

    evaluation.refresh_from_db()
    assert (evaluation.status, evaluation.success_rate) == ("cancelled", None)
    assert set(Trajectory.objects.values_list("status", flat=True)) == {"cancelled"}
    assert evaluations_to_advance() == []


def test_a_greedy_evaluation_of_a_version_is_on_its_runs_charts(alice, media):
    TaskFactory()
    run = RunFactory(owner=alice)
    CheckpointFactory(run=run, version=2, step=7)
    evaluation = EvaluationFactory(owner=alice, run=run, policy_version=2)
    evaluation_advance(evaluation_id=evaluation.pk)
    end([1.0])

    evaluation_advance(evaluation_id=evaluation.pk)

    row = run.metrics.get()
    assert (row.source, row.step) == ("evaluation", 7)
    assert row.values["evaluation/success_rate"] == 1.0


def test_creating_one_wakes_a_manager(alice, sent, django_capture_on_commit_callbacks):
    TaskFactory()

    with django_capture_on_commit_callbacks(execute=True):
        evaluation = evaluation_create(
            owner=alice,
            policy="oche-tiny",
            tasks=["miniwob/click-test"],
            num_episodes=5,
            first_seed=900_000_100,
            temperature=0.0,
        )

    assert sent["advance_evaluation"] == [evaluation.pk]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"first_seed": 1_000_000}, EvaluationInvalid),
        ({"num_episodes": 0}, EvaluationInvalid),
        ({"tasks": []}, EvaluationInvalid),
        ({"tasks": ["miniwob/nonsense"]}, TaskNotFound),
        ({"policy": "nobody"}, PolicyNotFound),
        ({"policy": "oracle", "tasks": ["scripted/unheard-of"]}, EvaluationInvalid),
    ],
)
def test_what_would_measure_nothing_is_refused(alice, changes, error):
    TaskFactory()
    TaskFactory(backend="scripted", name="unheard-of")
    values = {
        "owner": alice,
        "policy": "oche-tiny",
        "tasks": ["miniwob/click-test"],
        "num_episodes": 5,
    }

    with pytest.raises(error):
        evaluation_create(**(values | changes))
    assert not Evaluation.objects.exists()
