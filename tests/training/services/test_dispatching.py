import pytest

from training.models import Run, Trajectory
from training.selectors import num_unused_rollouts
from training.services.dispatching import groups_dispatch

pytestmark = pytest.mark.django_db


def test_two_batches_are_dispatched_when_one_may_be_stale(
    lease, config, run, sent, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        num = groups_dispatch(lease, config=config)

    assert num == 8  # (1 + 1) batches · 2 groups · 2 rollouts
    assert len(sent["trajectories"]) == 8
    seeds = Trajectory.objects.values_list("seed", flat=True)
    assert sorted(set(seeds)) == [1_000_000, 1_000_001, 1_000_002, 1_000_003]
    assert Run.objects.get().next_seed == 4


def test_asked_twice_it_dispatches_once(lease, config):
    groups_dispatch(lease, config=config)

    assert groups_dispatch(lease, config=config) == 0


def test_a_dropped_group_makes_room_for_the_next_seed(lease, config, run):
    groups_dispatch(lease, config=config)
    group = run.groups.order_by("seed").first()
    group.status, group.drop_reason = "dropped", "solved"
    group.save()

    assert groups_dispatch(lease, config=config) == 2
    assert run.groups.order_by("seed").last().seed == 1_000_004


@pytest.mark.parametrize(
    ("status", "unused"),
    [("open", 2), ("ready", 2), ("batched", 2), ("trained", 0), ("dropped", 0)],
)
def test_what_no_step_has_used_yet_counts(make_group, run, status, unused):
    make_group([1.0, 0.0], status=status)

    assert num_unused_rollouts(run.pk) == unused


def test_the_step_limit_is_the_lower_of_run_and_task(lease, config, run):
    run.trajectories.all()
    groups_dispatch(lease, config=config)

    # The task allows 10, the run 30.
    assert set(run.trajectories.values_list("step_limit", flat=True)) == {10}


def test_a_run_that_failed_meanwhile_gets_no_rollouts(lease, config):
    Run.objects.update(status="failed")

    assert groups_dispatch(lease, config=config) == 0
    assert not Trajectory.objects.exists()
