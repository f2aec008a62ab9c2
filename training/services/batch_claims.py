"""Who trains a batch: claimed by its row, kept by a lease that a thread extends.

The end of the lease is also its token: whoever finds another time in the row than
the one it wrote itself has lost the batch.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import DatabaseError, connection
from django.db.models import QuerySet
from django.utils import timezone

from training.errors import LeaseLost
from training.models import Batch, Run
from training.states import BatchStatus, GroupStatus, RunStatus

logger = logging.getLogger(__name__)

BATCH_LEASE_S: Final = 15.0
HEARTBEAT_S: Final = 3.0


class BatchClaim:
    """The right to train one batch."""

    def __init__(self, batch: Batch, lease_end: datetime) -> None:
        self.batch = batch
        self.claimed_at = timezone.now()
        self._lease_end = lease_end
        self._stop = threading.Event()
        self.is_lost = False

    def extend(self) -> None:
        """Extend the lease, or note that it is lost."""
        later = _lease_end()
        kept = self._mine().update(lease_expires_at=later)
        if kept:
            self._lease_end = later
        else:
            self.is_lost = True

    def settle(self) -> None:
        """Mark the batch and its groups trained; call in the recording transaction.

        Raises:
            LeaseLost: If another trainer has it by now; nothing is recorded then.
        """
        trained = self._mine().update(status=BatchStatus.TRAINED, lease_expires_at=None)
        if not trained:
            raise LeaseLost(f"{self.batch} of run {self.batch.run_id} is not ours")
        self.batch.groups.update(status=GroupStatus.TRAINED)

    def give_up(self) -> None:
        """Let any trainer take the batch at once."""
        self._mine().update(status=BatchStatus.READY)

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Extend the lease from a thread for as long as the block runs."""
        thread = threading.Thread(target=self._beat, daemon=True, name="batch lease")
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()
            self._stop.clear()

    def _beat(self) -> None:
        try:
            while not self._stop.wait(HEARTBEAT_S):
                try:
                    self.extend()
                except DatabaseError as error:
                    logger.warning("lease not extended: %s", error)
        finally:
            connection.close()

    def _mine(self) -> QuerySet[Batch]:
        return Batch.objects.filter(
            pk=self.batch.pk,
            status=BatchStatus.TRAINING,
            lease_expires_at=self._lease_end,
        )


def batch_claim(*, batch_id: UUID) -> BatchClaim | None:
    """Claim a batch; None if it is taken, done, or its run no longer trains."""
    end = _lease_end()
    won = Batch.objects.filter(
        pk=batch_id, status=BatchStatus.READY, run__status=RunStatus.RUNNING
    ).update(status=BatchStatus.TRAINING, lease_expires_at=end)
    if not won:
        return None
    return BatchClaim(Batch.objects.select_related("run").get(pk=batch_id), end)


def run_is_active(run_id: UUID) -> bool:
    """Return whether anything may be trained for a run."""
    active = (RunStatus.STARTING, RunStatus.RUNNING)
    return Run.objects.filter(pk=run_id, status__in=active).exists()


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=BATCH_LEASE_S)
