from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import BatchFactory
from training.errors import LeaseLost
from training.models import Batch
from training.services import batch_claims
from training.services.batch_claims import batch_claim


@pytest.mark.django_db
def test_the_end_of_the_lease_is_its_token(run):
    claim = batch_claim(batch_id=BatchFactory(run=run).pk)
    claim.extend()
    assert not claim.is_lost

    Batch.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=99))
    claim.extend()

    assert claim.is_lost
    with pytest.raises(LeaseLost):
        claim.settle()


@pytest.mark.django_db
def test_what_is_given_up_can_be_claimed_at_once(run):
    batch = BatchFactory(run=run)
    batch_claim(batch_id=batch.pk).give_up()

    assert batch_claim(batch_id=batch.pk) is not None


@pytest.mark.django_db(transaction=True)
def test_a_thread_keeps_the_lease_while_the_engine_works(run, monkeypatch):
    monkeypatch.setattr(batch_claims, "HEARTBEAT_S", 0.01)
    claim = batch_claim(batch_id=BatchFactory(run=run).pk)
    before = Batch.objects.get().lease_expires_at

    with claim.kept_alive():
        deadline = timezone.now() + timedelta(seconds=5)
        while Batch.objects.get().lease_expires_at == before:
            assert timezone.now() < deadline

    assert Batch.objects.get().lease_expires_at > before
    claim.settle()
    assert Batch.objects.get().status == "trained"
