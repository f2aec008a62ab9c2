import pytest

from tests.factories import TrajectoryFactory
from training.models import Group, Run, Trajectory
from training.services.groups import groups_advance, world_is_broken
from training.services.trajectories import MAX_TRIES
from training.services.transitions import run_transition
from training.states import RunStatus, TrajectoryStatus

pytestmark = pytest.mark.django_db


def advantages(group):
    rows = group.trajectories.filter(status=TrajectoryStatus.FINISHED)
    return [row.advantage for row in rows.order_by("index")]


def test_a_complete_group_is_ready_with_its_advantages(make_group, lease, config):
    group = make_group([1.0, 0.0])

    groups_advance(lease, config=config)

    group.refresh_from_db()
    assert group.status == "ready"
    assert advantages(group) == [0.5, -0.5]


def test_a_group_waits_for_its_slowest(make_group, lease, config):
    group = make_group([1.0], num_rollouts=2)
    TrajectoryFactory(run=group.run, group=group, index=1)

    groups_advance(lease, config=config)

    group.refresh_from_db()
    assert group.status == "open"


@pytest.mark.parametrize(
    ("rewards", "reason"),
    [
        ([1.0, 1.0, 1.0, 1.0], "solved"),
        ([0.0, 0.0, 0.0, 0.0], "failed"),
        ([0.3, 0.3], "flat"),
    ],
)
def test_a_flat_group_is_dropped_by_what_it_did(
    make_group, lease, config, rewards, reason
):
    group = make_group(rewards)

    groups_advance(lease, config=config)

    group.refresh_from_db()
    assert (group.status, group.drop_reason) == ("dropped", reason)


def test_a_fault_is_rolled_again_and_enters_no_mean(
    make_group, lease, config, sent, django_capture_on_commit_callbacks
):
    group = make_group([1.0, 3.0, 2.0, None])

    with django_capture_on_commit_callbacks(execute=True):
        groups_advance(lease, config=config)

    again = Trajectory.objects.get(status=TrajectoryStatus.QUEUED)
    assert (again.group, again.index, again.seed) == (group, 3, group.seed)
    assert sent["trajectories"] == [again.pk]
    Trajectory.objects.filter(pk=again.pk).update(
        status=TrajectoryStatus.FINISHED, reward=2.0, end_reason="solved"
    )
    groups_advance(lease, config=config)
    assert advantages(group) == [-1.0, 1.0, 0.0, 0.0]


def test_a_fault_is_rolled_again_once(make_group, lease, config):
    make_group([1.0, None])

    groups_advance(lease, config=config)
    groups_advance(lease, config=config)

    assert Trajectory.objects.filter(status=TrajectoryStatus.QUEUED).count() == 1


def test_a_group_that_keeps_breaking_is_given_up_and_the_run_says_why(
    make_group, lease, config
):
    group = make_group([1.0, None])
    for _ in range(MAX_TRIES - 1):
        TrajectoryFactory(
            run=group.run,
            group=group,
            index=1,
            status=TrajectoryStatus.FAULTED,
            fault_code="env_step",
            fault_detail="no screen",
        )

    groups_advance(lease, config=config)

    group.refresh_from_db()
    assert (group.status, group.drop_reason) == ("dropped", "faulted")
    assert "no screen" in Run.objects.get().reason


def test_a_group_that_is_stale_when_it_is_complete_is_dropped(
    make_group, lease, config, run
):
    group = make_group([1.0, 0.0], version=0)
    Run.objects.filter(pk=run.pk).update(policy_version=2)

    groups_advance(lease, config=config)

    group.refresh_from_db()
    assert (group.status, group.drop_reason) == ("dropped", "stale")


def test_a_world_that_breaks_every_group_is_broken(make_group, run):
    for _ in range(4):
        make_group([1.0, 0.0], status="dropped")
    Group.objects.update(drop_reason="faulted")
    assert not world_is_broken(run.pk)

    fifth = make_group([1.0, 0.0], status="dropped")
    Group.objects.filter(pk=fifth.pk).update(drop_reason="faulted")
    assert world_is_broken(run.pk)

    make_group([1.0, 0.0], status="ready")
    assert not world_is_broken(run.pk)


def test_what_broke_an_earlier_attempt_does_not_break_the_next(make_group, run):
    for _ in range(5):
        make_group([1.0, 0.0], status="dropped")
    Group.objects.update(drop_reason="faulted")
    assert world_is_broken(run.pk)

    Run.objects.update(status="queued")
    run_transition(run_id=run.pk, to=RunStatus.STARTING)

    assert not world_is_broken(run.pk)
