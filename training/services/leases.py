"""Who advances a run: a lease with a fencing number; the loser writes nothing."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from training.errors import LeaseLost
from training.models import Run

RUN_LEASE_S: Final = 10.0
"""Longer than one look at a run ever takes; after it a dead manager is replaced."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLease:
    """The right to advance one run, until someone else's number is higher."""

    run_id: UUID
    fence: int


def run_lease_claim(*, run_id: UUID) -> RunLease | None:
    """Claim a run that nobody advances now; None if somebody does."""
    now = timezone.now()
    token = uuid.uuid4().hex
    free = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=now)
    won = Run.objects.filter(free, pk=run_id).update(
        owner_token=token,
        fence=F("fence") + 1,
        lease_expires_at=now + timedelta(seconds=RUN_LEASE_S),
    )
    if not won:
        return None
    mine = Run.objects.filter(pk=run_id, owner_token=token).values_list("fence").first()
    return RunLease(run_id=run_id, fence=mine[0]) if mine else None


def run_lease_release(lease: RunLease) -> None:
    """Give the run back; does nothing if it was lost meanwhile."""
    Run.objects.filter(pk=lease.run_id, fence=lease.fence).update(
        owner_token="", lease_expires_at=None
    )


@contextmanager
def owned_run(lease: RunLease) -> Iterator[Run]:
    """Open a transaction on a run that is still ours.

    Raises:
        LeaseLost: If another manager took over; nothing is written then.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=lease.run_id)
        if run.fence != lease.fence:
            raise LeaseLost(
                f"run {run.pk} is advanced by number {run.fence}, not {lease.fence}"
            )
        yield run
