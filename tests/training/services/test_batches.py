import json
from datetime import timedelta

import pytest
from django.utils import timezone

from training.models import Batch, Group, Run, Trajectory
from training.services.batches import (
    batch_file,
    batch_form,
    batches_return,
    batches_send_again,
)

pytestmark = pytest.mark.django_db


def test_the_oldest_ready_groups_make_the_batch_of_the_next_step(
    make_group, lease, config, sent, django_capture_on_commit_callbacks
):
    first, second, third = (make_group([1.0, 0.0], status="ready") for _ in range(3))

    with django_capture_on_commit_callbacks(execute=True):
        batch = batch_form(lease, config=config)

    assert batch.step == 1
    assert set(batch.groups.all()) == {first, second}
    third.refresh_from_db()
    assert third.status == "ready"
    assert sent["train_step"] == [batch.pk]


def test_there_is_one_batch_at_a_time(make_group, lease, config):
    for _ in range(4):
        make_group([1.0, 0.0], status="ready")

    assert batch_form(lease, config=config) is not None
    assert batch_form(lease, config=config) is None


def test_too_few_groups_make_no_batch(make_group, lease, config):
    make_group([1.0, 0.0], status="ready")

    assert batch_form(lease, config=config) is None


def test_staleness_is_looked_at_again_when_the_batch_is_chosen(
    make_group, lease, config, run
):
    old = make_group([1.0, 0.0], status="ready", version=0)
    fresh = [make_group([1.0, 0.0], status="ready", version=2) for _ in range(2)]
    Run.objects.filter(pk=run.pk).update(policy_version=2)

    batch = batch_form(lease, config=config)

    assert set(batch.groups.all()) == set(fresh)
    old.refresh_from_db()
    assert (old.status, old.drop_reason) == ("dropped", "stale")


def test_the_rollouts_are_measured_when_their_batch_is_formed(
    make_group, lease, config, run
):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    Trajectory.objects.update(
        started_at=timezone.now() - timedelta(seconds=6), finished_at=timezone.now()
    )

    batch_form(lease, config=config)

    row = run.metrics.get()
    assert (row.source, row.step, row.seq) == ("rollouts", 0, 1)
    assert row.values["rollout/success_rate"] == 0.5
    assert row.values["rollout/num_trajectories"] == 4
    assert row.values["async/staleness_max"] == 0


def test_a_batch_whose_trainer_died_is_sent_again_with_all_its_groups(
    make_group, lease, config, sent, django_capture_on_commit_callbacks
):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    batch = batch_form(lease, config=config)
    Batch.objects.update(
        status="training", lease_expires_at=timezone.now() - timedelta(seconds=1)
    )

    with django_capture_on_commit_callbacks(execute=True):
        batches_send_again(lease)
        batches_send_again(lease)

    batch.refresh_from_db()
    assert batch.status == "ready"
    assert batch.groups.count() == 2
    assert sent["train_step"] == [batch.pk]


def test_what_no_trainer_works_on_is_given_back(make_group, lease, config, run):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    batch_form(lease, config=config)

    is_busy = batches_return(run)

    assert not is_busy
    assert set(Group.objects.values_list("status", "batch")) == {("ready", None)}
    assert batch_form(lease, config=config).step == 1


def test_what_a_trainer_works_on_is_left_alone(make_group, lease, config, run):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    batch_form(lease, config=config)
    Batch.objects.update(
        status="training", lease_expires_at=timezone.now() + timedelta(seconds=9)
    )

    assert batches_return(run)
    assert set(Group.objects.values_list("status", flat=True)) == {"batched"}


def test_the_engine_reads_trajectories_with_their_advantages(
    make_group, lease, config, media, run
):
    for _ in range(2):
        make_group([1.0, 0.0], status="ready")
    Trajectory.objects.filter(reward=1.0).update(advantage=0.5)
    Trajectory.objects.filter(reward=0.0).update(advantage=-0.5)
    batch = batch_form(lease, config=config)

    content = json.loads(batch_file(batch).read_text())

    assert (content["run"], content["step"]) == (str(run.pk), 1)
    assert [entry["advantage"] for entry in content["trajectories"]] == [
        0.5,
        -0.5,
        0.5,
        -0.5,
    ]
    assert content["trajectories"][0]["folder"] == f"runs/{run.pk}/trajectories/0"
