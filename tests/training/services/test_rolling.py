"""Trajectories in a real pool of the scripted world; only the policy is stood in for."""

import pytest

from agents.errors import InferenceFailed
from agents.types import Decision, Prompt
from environments.actions import Click
from environments.pool import SlotPool
from tests.factories import (
    EvaluationFactory,
    GroupFactory,
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
)
from training.models import Trajectory
from training.rollouts.store import read_trajectory
from training.services import rolling
from training.services.rolling import trajectory_run
from training.services.trajectories import trajectories_cancel

pytestmark = pytest.mark.django_db


class Worker:
    """Stands where ``RolloutWorker`` does: a pool, and no leases to keep."""

    name = "test"

    def __init__(self, pool):
        self.pool = pool
        self.on_begin = lambda: None

    def client(self):
        return None

    def begin(self, trajectory_id):
        self.on_begin()

    def end(self, trajectory_id):
        pass


class Reporter:
    """Shows nothing: there is no Redis here."""

    def __init__(self, **kwargs):
        pass

    async def note(self, event):
        pass

    def rest(self):
        pass


@pytest.fixture(scope="module")
def pool():
    pool = SlotPool(worker="test", num_slots=1)
    yield pool
    pool.close()


@pytest.fixture
def worker(pool, monkeypatch):
    monkeypatch.setattr(rolling, "SlotReporter", Reporter)
    return Worker(pool)


@pytest.fixture
def decide(monkeypatch):
    """Let every answer be what a test says."""

    def use(answer):
        class Policy:
            def __init__(self, client, **kwargs):
                pass

            async def decide(self, observation, turns):
                if isinstance(answer, Exception):
                    raise answer
                prompt = Prompt(
                    messages=[{"role": "user", "content": observation.instruction}],
                    images=[],
                )
                return Decision(prompt=prompt, answer=None, text="click", action=answer)

        monkeypatch.setattr(rolling, "ServedPolicy", Policy)

    return use


@pytest.fixture
def row(alice, media):
    task = TaskFactory(backend="scripted", name="click-square", max_steps=2)
    run = RunFactory(
        owner=alice, running=True, config={"kind": "rl", "tasks": [str(task)]}
    )
    group = GroupFactory(run=run, task=task)
    return TrajectoryFactory(run=run, group=group, task=task, step_limit=2)


OUTSIDE = Click(x=0.0, y=0.0)


def test_an_episode_leaves_its_row_and_its_files(row, worker, decide, media):
    decide(OUTSIDE)

    trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert (row.status, row.end_reason, row.reward) == ("finished", "unsolved", 0.0)
    assert (row.num_steps, row.slot) == (1, "test-0")
    stored = read_trajectory(media / row.path)
    assert stored["id"] == str(row.pk)
    assert stored["policy"] == f"run-{row.run_id}"


def test_a_row_keeps_how_its_episode_spent_the_slots_time(row, worker, decide):
    decide(OUTSIDE)

    trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert 0 < row.busy_s < row.occupied_s
    assert row.reset_s <= row.busy_s
    assert len(row.step_ms) == 1


def test_a_broken_episode_occupied_its_slot_as_well(row, worker, decide):
    row.task.params = {"break_at_step": 0}
    row.task.save()
    decide(OUTSIDE)

    trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert row.status == "faulted"
    assert row.occupied_s > 0
    assert (row.reset_s, row.step_ms) == (None, [])


def test_a_message_delivered_twice_is_played_once(row, worker, decide):
    decide(OUTSIDE)
    trajectory_run(trajectory_id=row.pk, worker=worker)
    finished_at = Trajectory.objects.get().finished_at

    trajectory_run(trajectory_id=row.pk, worker=worker)

    assert Trajectory.objects.get().finished_at == finished_at


def test_a_world_that_breaks_is_a_fault_and_no_reward(row, worker, decide):
    row.task.params = {"break_at_step": 0}
    row.task.save()
    decide(OUTSIDE)

    trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert (row.status, row.fault_code) == ("faulted", "env_step")
    assert row.reward is None
    assert "told to break" in row.fault_detail


def test_a_model_that_cannot_be_asked_is_a_fault(row, worker, decide):
    decide(InferenceFailed("no worker is alive"))

    trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert (row.status, row.fault_code) == ("faulted", "model")


def test_what_was_cancelled_meanwhile_leaves_nothing(row, worker, decide, media):
    decide(OUTSIDE)
    claim = rolling.trajectory_claim

    def claim_and_cancel(**kwargs):
        claimed = claim(**kwargs)
        trajectories_cancel(Trajectory.objects.all())
        return claimed

    rolling.trajectory_claim, kept = claim_and_cancel, claim
    try:
        trajectory_run(trajectory_id=row.pk, worker=worker)
    finally:
        rolling.trajectory_claim = kept

    row.refresh_from_db()
    assert (row.status, row.reward, row.path) == ("cancelled", None, "")
    assert not list(media.glob("runs/*/trajectories/*"))


def test_a_bug_is_recorded_and_raised(row, worker, decide):
    decide(ZeroDivisionError("oops"))

    with pytest.raises(ZeroDivisionError):
        trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert row.status == "faulted"
    assert row.reward is None


def test_chance_plays_without_a_model(alice, worker, media):
    task = TaskFactory(backend="scripted", name="click-square", max_steps=2)
    evaluation = EvaluationFactory(owner=alice, policy="random", tasks=[str(task)])
    row = TrajectoryFactory(evaluation=evaluation, task=task, step_limit=2)

    trajectory_run(trajectory_id=row.pk, worker=worker)

    row.refresh_from_db()
    assert (row.status, row.fault_code) == ("finished", "")
    assert read_trajectory(media / row.path)["policy"] == "random"
