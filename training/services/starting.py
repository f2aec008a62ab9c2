"""How a run begins: a free trainer, its first policy in place, somebody to serve it."""

import uuid
from typing import Final

from django.db import transaction

from training.config import RlConfig, SftConfig
from training.errors import DatasetNotReady, InvalidTransition
from training.models import Dataset, Run
from training.selectors import runs_active
from training.services import messages
from training.services.checkpoints import checkpoint_register_start, run_settle_version
from training.services.policies import policy_resolve
from training.services.syncing import is_served
from training.services.transitions import run_note, run_transition
from training.states import DatasetStatus, RunStatus

RUN_SLOTS: Final = 2
"""Runs that are under way at a time; each keeps an engine in the trainer."""
MANAGER: Final = "manager"
WAITS: Final = "Waits for an inference worker"


def run_admit(run: Run) -> bool:
    """Take a queued run up if a trainer is free; the longest waiting first."""
    with transaction.atomic():
        if runs_active().select_for_update().count() >= RUN_SLOTS:
            return False
        waiting = Run.objects.filter(status=RunStatus.QUEUED).order_by("created_at")
        first = waiting.first()
        if first is None or first.pk != run.pk:
            return False
        run_transition(
            run_id=run.pk,
            to=RunStatus.STARTING,
            reason="Prepares its policy",
            who=MANAGER,
        )
    return True


def run_prepare(run: Run, config: RlConfig | SftConfig) -> bool:
    """Put everything in place; returns whether the run is running now.

    Raises:
        PolicyNotFound: If the policy to start from is gone.
        DatasetNotReady: If the data set is gone.
    """
    _prepare_files(run, config)
    if run.reason != WAITS:
        # Once: the engine loads while an inference worker takes the policy up.
        messages.send_prepare_engine(run.pk)
    if isinstance(config, RlConfig) and not is_served(run):
        messages.send_sync()
        run_note(run_id=run.pk, reason=WAITS)
        return False
    try:
        run_transition(run_id=run.pk, to=RunStatus.RUNNING, who=MANAGER)
    except InvalidTransition:
        # Stopped by hand in this very moment.
        return False
    return True


def dataset_of(config: SftConfig) -> Dataset:
    """Return the data set that a run learns from.

    Raises:
        DatasetNotReady: If it is gone, or not ready.
    """
    row = Dataset.objects.filter(pk=uuid.UUID(config.dataset)).first()
    if row is None or row.status != DatasetStatus.READY:
        raise DatasetNotReady(f"data set {config.dataset} is gone or not ready")
    return row


def _prepare_files(run: Run, config: RlConfig | SftConfig) -> None:
    """Register the first policy and find the version to go on from."""
    if isinstance(config, SftConfig):
        dataset_of(config)
    first = policy_resolve(reference=config.policy, owner=run.owner)
    checkpoint_register_start(run_id=run.pk, weights=first.weights)
    run_settle_version(run_id=run.pk)
