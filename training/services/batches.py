"""Batches: choosing and marking is one transaction, and so is giving one back."""

from datetime import timedelta
from pathlib import Path
from typing import Final

from django.db.models import Min, Q
from django.utils import timezone

from studio.common.storage import write_json
from training.config import RlConfig
from training.curation.batches import Candidate, Choice, choose_batch
from training.models import Batch, Group, Run, Trajectory
from training.services import messages
from training.services.commits import after_commit
from training.services.files import storage
from training.services.groups import groups_drop
from training.services.leases import RunLease, owned_run
from training.services.measuring import measure_rollouts
from training.states import BatchStatus, DropReason, GroupStatus, TrajectoryStatus

FORMAT_VERSION: Final = 1
SEND_AGAIN_S: Final = 20.0
"""A batch that no trainer claimed for so long is sent again."""
LIVE: Final = (BatchStatus.READY, BatchStatus.TRAINING)


def batch_form(lease: RunLease, *, config: RlConfig) -> Batch | None:
    """Make the next batch if the trainer is free and enough groups are ready.

    Groups that grew too stale while they waited are dropped here.

    Raises:
        LeaseLost: If another manager took over.
    """
    if not _may_form(lease, config):
        return None
    with owned_run(lease) as run:
        if run.batches.filter(status__in=LIVE).exists():
            return None
        choice = _choose(run, config)
        if choice.stale:
            groups_drop(choice.stale, DropReason.STALE)
        if not choice.batch:
            return None
        measure_rollouts(run, batch=choice.batch, num_stale=len(choice.stale))
        batch = batch_create(run)
        ids = [group.pk for group in choice.batch]
        Group.objects.filter(pk__in=ids).update(status=GroupStatus.BATCHED, batch=batch)
    return batch


def batch_create(run: Run) -> Batch:
    """Make the batch of a run's next optimizer step and send for a trainer."""
    batch = Batch.objects.create(
        run=run,
        step=run.optimizer_step + 1,
        lease_expires_at=timezone.now() + timedelta(seconds=SEND_AGAIN_S),
    )
    after_commit(messages.send_train_step, batch.pk)
    return batch


def batches_send_again(lease: RunLease) -> None:
    """Send for a trainer once more where none came, or where it died.

    A batch whose trainer is lost becomes ready again with all its groups.

    Raises:
        LeaseLost: If another manager took over.
    """
    now = timezone.now()
    overdue = Q(run_id=lease.run_id, status__in=LIVE, lease_expires_at__lt=now)
    if not Batch.objects.filter(overdue).exists():
        return
    with owned_run(lease):
        for pk in Batch.objects.filter(overdue).values_list("pk", flat=True):
            # Compared again as it is set: its trainer may be settling at this moment.
            freed = Batch.objects.filter(overdue, pk=pk).update(
                status=BatchStatus.READY,
                lease_expires_at=now + timedelta(seconds=SEND_AGAIN_S),
            )
            if freed:
                after_commit(messages.send_train_step, pk)


def batches_return(run: Run) -> bool:
    """Give back what no trainer works on; call inside a transaction.

    Returns:
        Whether a trainer still works on a batch.
    """
    now = timezone.now()
    idle = Q(status=BatchStatus.READY) | Q(
        status=BatchStatus.TRAINING, lease_expires_at__lt=now
    )
    ids = list(run.batches.filter(idle).values_list("pk", flat=True))
    Group.objects.filter(batch_id__in=ids).update(status=GroupStatus.READY, batch=None)
    Batch.objects.filter(pk__in=ids).update(
        status=BatchStatus.RETURNED, lease_expires_at=None
    )
    return run.batches.filter(status=BatchStatus.TRAINING).exists()


def batch_file(batch: Batch) -> Path:
    """Write what the engine reads, unless it is there; the rows say what is in it."""
    path = storage().batch(batch.run_id, batch.step)
    rows = Trajectory.objects.filter(
        group__batch=batch, status=TrajectoryStatus.FINISHED
    ).order_by("group__created_at", "group_id", "index")
    write_json(
        path,
        {
            "format_version": FORMAT_VERSION,
            "run": str(batch.run_id),
            "step": batch.step,
            "trajectories": [
                {
                    "id": str(row.pk),
                    "folder": row.path,
                    "advantage": row.advantage,
                    "group": str(row.group_id),
                }
                for row in rows
            ],
        },
    )
    return path


def _may_form(lease: RunLease, config: RlConfig) -> bool:
    """Look without a lock first: most of the time there is nothing to do."""
    if Batch.objects.filter(run_id=lease.run_id, status__in=LIVE).exists():
        return False
    ready = Group.objects.filter(run_id=lease.run_id, status=GroupStatus.READY)
    return ready.count() >= config.grpo.groups_per_step


def _choose(run: Run, config: RlConfig) -> Choice[Group]:
    finished = Q(trajectories__status=TrajectoryStatus.FINISHED)
    ready = run.groups.filter(status=GroupStatus.READY).order_by("created_at", "id")
    candidates: list[Candidate[Group]] = [
        Candidate(group=group, min_version=group.oldest or 0)
        for group in ready.annotate(
            oldest=Min("trajectories__min_version", filter=finished)
        )
    ]
    return choose_batch(
        candidates,
        groups_per_step=config.grpo.groups_per_step,
        trainer_version=run.policy_version,
        max_staleness=config.asynchrony.max_staleness,
    )
