from datetime import timedelta

import pytest
from django.utils import timezone

from training.errors import LeaseLost
from training.models import Run
from training.services.leases import owned_run, run_lease_claim, run_lease_release

pytestmark = pytest.mark.django_db


def test_a_run_has_one_owner_at_a_time(run):
    first = run_lease_claim(run_id=run.pk)

    assert first is not None
    assert run_lease_claim(run_id=run.pk) is None


def test_a_run_that_was_given_back_can_be_claimed(run):
    first = run_lease_claim(run_id=run.pk)
    run_lease_release(first)

    second = run_lease_claim(run_id=run.pk)

    assert second.fence == first.fence + 1


def rename(lease):
    with owned_run(lease) as row:
        row.name = "written by the loser"
        row.save()


def test_the_loser_of_a_race_writes_nothing(run):
    slow = run_lease_claim(run_id=run.pk)
    Run.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    quick = run_lease_claim(run_id=run.pk)

    with pytest.raises(LeaseLost):
        rename(slow)
    run_lease_release(slow)

    assert Run.objects.get().name == run.name
    assert Run.objects.get().lease_expires_at is not None
    with owned_run(quick) as row:
        assert row.pk == run.pk
