from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import TrajectoryFactory
from training.models import Trajectory
from training.rollouts.types import EndReason, FaultCode
from training.services import messages, reaping
from training.services.reaping import rollouts_reap
from training.services.trajectories import (
    Outcome,
    trajectories_cancel,
    trajectories_extend,
    trajectories_reap,
    trajectory_claim,
    trajectory_fault,
    trajectory_finish,
)
from training.states import TrajectoryStatus

pytestmark = pytest.mark.django_db


def solved(**changes):
    values = {
        "end_reason": EndReason.SOLVED,
        "reward": 1.0,
        "num_steps": 3,
        "min_version": 1,
        "max_version": 2,
        "path": "runs/x/trajectories/y",
    }
    return Outcome(**(values | changes))


def ago(seconds):
    return timezone.now() - timedelta(seconds=seconds)


def test_a_message_delivered_twice_is_claimed_once():
    row = TrajectoryFactory()

    first = trajectory_claim(trajectory_id=row.pk)
    second = trajectory_claim(trajectory_id=row.pk)

    assert first.fence == 1
    assert first.lease_expires_at > timezone.now()
    assert second is None


def test_what_finished_keeps_its_verdict():
    row = trajectory_claim(trajectory_id=TrajectoryFactory().pk)

    assert trajectory_finish(trajectory=row, fence=row.fence, outcome=solved())

    kept = Trajectory.objects.get()
    assert (kept.status, kept.reward, kept.num_steps) == ("finished", 1.0, 3)
    assert (kept.min_version, kept.max_version) == (1, 2)


def test_a_worker_that_was_given_up_for_lost_records_nothing():
    row = trajectory_claim(trajectory_id=TrajectoryFactory().pk)
    Trajectory.objects.update(lease_expires_at=ago(1))
    trajectories_reap()

    assert not trajectory_finish(trajectory=row, fence=row.fence, outcome=solved())

    kept = Trajectory.objects.get()
    assert (kept.status, kept.fault_code) == ("faulted", "worker_lost")
    assert kept.reward is None


def test_another_fence_records_nothing():
    row = trajectory_claim(trajectory_id=TrajectoryFactory().pk)

    assert not trajectory_finish(trajectory=row, fence=7, outcome=solved())
    assert Trajectory.objects.get().status == TrajectoryStatus.RUNNING


def test_a_fault_is_no_reward_of_zero():
    row = trajectory_claim(trajectory_id=TrajectoryFactory().pk)

    trajectory_fault(
        trajectory=row, fence=row.fence, code=FaultCode.ENV_TIMEOUT, detail="slow"
    )

    kept = Trajectory.objects.get()
    assert kept.reward is None
    assert (kept.fault_code, kept.fault_detail) == ("env_timeout", "slow")


def test_a_lease_that_is_kept_up_is_not_reaped():
    row = trajectory_claim(trajectory_id=TrajectoryFactory().pk)
    Trajectory.objects.update(lease_expires_at=ago(1))

    assert trajectories_extend(ids={row.pk}) == {row.pk}
    assert trajectories_reap() == []


def test_the_heartbeat_learns_what_was_cancelled():
    row = trajectory_claim(trajectory_id=TrajectoryFactory().pk)
    trajectories_cancel(Trajectory.objects.all())

    assert trajectories_extend(ids={row.pk}) == set()
    assert not trajectory_finish(trajectory=row, fence=row.fence, outcome=solved())


def test_finishing_wakes_the_run_that_waits_for_its_group(
    make_group, sent, django_capture_on_commit_callbacks
):
    group = make_group([1.0, 1.0])
    row = TrajectoryFactory(run=group.run, group=group)
    row = trajectory_claim(trajectory_id=row.pk)

    with django_capture_on_commit_callbacks(execute=True):
        trajectory_finish(trajectory=row, fence=row.fence, outcome=solved())

    assert sent["advance"] == [group.run_id]


def test_a_lost_message_is_sent_again_and_not_twice_in_a_moment(sent):
    lost = TrajectoryFactory(dispatched_at=ago(30))
    TrajectoryFactory(dispatched_at=ago(5))

    rollouts_reap()
    rollouts_reap()

    assert sent["trajectories"] == [lost.pk]


def test_a_message_that_waits_its_turn_is_not_sent_again(sent, monkeypatch):
    monkeypatch.setattr(messages, "num_waiting_rollouts", lambda: 40)
    TrajectoryFactory(dispatched_at=ago(300))

    rollouts_reap()

    assert sent["trajectories"] == []


def test_a_message_that_others_overtook_is_sent_again(sent, monkeypatch):
    monkeypatch.setattr(messages, "num_waiting_rollouts", lambda: 40)
    lost = TrajectoryFactory(dispatched_at=ago(300))
    later = TrajectoryFactory(dispatched_at=ago(10))
    trajectory_claim(trajectory_id=later.pk)

    rollouts_reap()

    assert sent["trajectories"] == [lost.pk]
    assert reaping.CLAIMED_WITHIN_S < 300
