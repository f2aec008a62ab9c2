import itertools
from uuid import uuid4

import pytest
from redis.exceptions import RedisError

from tests.factories import RunFactory, TrajectoryFactory
from training import events
from training.errors import InvalidTransition
from training.models import Run, RunTransition, Trajectory
from training.services import transitions
from training.services.trajectories import (
    Outcome,
    trajectories_cancel,
    trajectory_claim,
    trajectory_fault,
    trajectory_finish,
)
from training.services.transitions import run_transition
from training.states import (
    RUN_MOVES,
    RUN_OVER,
    TRAJECTORY_MOVES,
    RunStatus,
    TrajectoryStatus,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("old", "new"), list(itertools.product(RunStatus, RunStatus)))
def test_exactly_the_listed_moves_are_possible(old, new):
    run = RunFactory(status=old)

    if new in RUN_MOVES[old]:
        assert run_transition(run_id=run.pk, to=new).status == new
    else:
        with pytest.raises(InvalidTransition, match=f"is {old} cannot become {new}"):
            run_transition(run_id=run.pk, to=new)
        assert not RunTransition.objects.exists()
        assert Run.objects.get().status == old


def test_a_move_is_recorded_with_reason_and_name(
    monkeypatch, django_capture_on_commit_callbacks
):
    told = []
    monkeypatch.setattr(transitions, "publish", told.append)
    run = RunFactory(status=RunStatus.RUNNING)

    with django_capture_on_commit_callbacks(execute=True):
        run_transition(
            run_id=run.pk, to=RunStatus.STOPPING, reason="Enough", who="alice"
        )

    move = run.transitions.get()
    assert (move.old_status, move.new_status) == ("running", "stopping")
    assert (move.reason, move.who) == ("Enough", "alice")
    assert told[0].new_status == "stopping"


def test_a_deaf_channel_layer_undoes_nothing(
    monkeypatch, django_capture_on_commit_callbacks
):
    def break_down(event):
        raise ConnectionError("no Redis")

    monkeypatch.setattr(transitions, "publish", break_down)
    run = RunFactory(status=RunStatus.RUNNING)

    with django_capture_on_commit_callbacks(execute=True):
        run_transition(run_id=run.pk, to=RunStatus.STOPPING)

    assert Run.objects.get().status == RunStatus.STOPPING


@pytest.mark.parametrize("over", sorted(RUN_OVER - {RunStatus.SUCCEEDED}))
def test_a_run_that_is_queued_again_has_not_finished(over):
    run = RunFactory(status=RunStatus.STOPPING)
    if over == RunStatus.FAILED:
        run_transition(run_id=run.pk, to=RunStatus.FAILED)
    else:
        run_transition(run_id=run.pk, to=RunStatus.STOPPED)
    assert Run.objects.get().finished_at is not None

    run_transition(run_id=run.pk, to=RunStatus.QUEUED)

    assert Run.objects.get().finished_at is None


MOVERS = {
    TrajectoryStatus.RUNNING: lambda row: (
        trajectory_claim(trajectory_id=row.pk) is not None
    ),
    TrajectoryStatus.FINISHED: lambda row: trajectory_finish(
        trajectory=row,
        fence=row.fence,
        outcome=Outcome(
            end_reason="solved",
            reward=1.0,
            num_steps=1,
            min_version=0,
            max_version=0,
            path="x",
        ),
    ),
    TrajectoryStatus.FAULTED: lambda row: trajectory_fault(
        trajectory=row, fence=row.fence, code="env_step", detail="broke"
    ),
    TrajectoryStatus.CANCELLED: lambda row: bool(
        trajectories_cancel(Trajectory.objects.filter(pk=row.pk))
    ),
}


@pytest.mark.parametrize(
    ("old", "new"), list(itertools.product(TrajectoryStatus, MOVERS))
)
def test_exactly_the_listed_moves_of_a_trajectory_are_possible(old, new):
    row = TrajectoryFactory(status=old)

    has_moved = MOVERS[new](row)

    assert has_moved == (new in TRAJECTORY_MOVES[old])
    assert Trajectory.objects.get().status == (new if has_moved else old)


def test_a_channel_layer_that_is_out_of_reach_is_no_error(monkeypatch):
    class Deaf:
        async def group_send(self, group, message):
            raise RedisError("no Redis")

    monkeypatch.setattr(events, "get_channel_layer", Deaf)

    events.publish(
        events.MetricsRecorded(run_id=uuid4(), seq=1, step=1, policy_version=0)
    )


def test_events_name_their_run():
    run = RunFactory()

    assert events.run_group(run.pk) == f"run.{run.pk.hex}"
