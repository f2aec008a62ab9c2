"""What a user can ask of a run."""

import uuid
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from training.config import RlConfig, SftConfig
from training.errors import DatasetNotReady, InvalidTransition
from training.models import Run
from training.selectors import datasets_visible_to, tasks_by_name
from training.services import messages
from training.services.commits import after_commit
from training.services.policies import policy_resolve
from training.services.transitions import run_transition
from training.states import BatchStatus, DatasetStatus, RunStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def run_create(*, owner: "User", name: str, config: RlConfig | SftConfig) -> Run:
    """Keep a run as a draft; it begins when it is started.

    Raises:
        PolicyNotFound: If the policy to start from does not exist.
        TaskNotFound: If a task is not in the catalogue.
        DatasetNotReady: If the data set is not the owner's, or not ready.
        ValidationError: If the name is missing or too long.
    """
    policy_resolve(reference=config.policy, owner=owner)
    if isinstance(config, RlConfig):
        tasks_by_name(config.tasks)
    else:
        _check_dataset(config.dataset, owner)
    run = Run(
        owner=owner, name=name, kind=config.kind, config=config.model_dump(mode="json")
    )
    run.full_clean()
    run.save()
    return run


def run_start(*, run_id: UUID, who: str) -> Run:
    """Queue a draft for the next free trainer.

    Raises:
        Run.DoesNotExist: If there is no such run.
        InvalidTransition: If it is no draft.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        if run.status != RunStatus.DRAFT:
            raise InvalidTransition(f"a run that is {run.status} cannot be started")
        return _queue(run_id, who)


def run_stop(*, run_id: UUID, who: str) -> Run:
    """Stop a run: at once if it waits, after its present optimizer step if it trains.

    Raises:
        Run.DoesNotExist: If there is no such run.
        InvalidTransition: If the run is over, or is stopping already.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        waits = run.status == RunStatus.QUEUED
        to = RunStatus.STOPPED if waits else RunStatus.STOPPING
        run = run_transition(run_id=run_id, to=to, reason="Stopped by hand", who=who)
        _wake(run_id)
    return run


def run_pause(*, run_id: UUID, who: str) -> Run:
    """Begin nothing new; what is under way finishes.

    Raises:
        InvalidTransition: If the run is not running.
    """
    return run_transition(
        run_id=run_id, to=RunStatus.PAUSED, reason="Paused by hand", who=who
    )


def run_resume(*, run_id: UUID, who: str) -> Run:
    """Go on: with a paused run at once, with a stopped or failed one by a new attempt.

    Raises:
        Run.DoesNotExist: If there is no such run.
        InvalidTransition: If it is under way, waiting, or done.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        if run.status == RunStatus.PAUSED:
            run = run_transition(run_id=run_id, to=RunStatus.RUNNING, who=who)
            # A batch that came while the run paused was turned away: send it now.
            waiting = run.batches.filter(status=BatchStatus.READY)
            waiting.update(lease_expires_at=timezone.now())
            _wake(run_id)
            return run
        if run.status == RunStatus.DRAFT:
            raise InvalidTransition("a draft is started, not resumed")
        run = _queue(run_id, who)
        run.attempt += 1
        run.save(update_fields=["attempt"])
    return run


def _queue(run_id: UUID, who: str) -> Run:
    run = run_transition(
        run_id=run_id,
        to=RunStatus.QUEUED,
        reason="Waits for a free trainer",
        who=who,
    )
    _wake(run_id)
    return run


def _wake(run_id: UUID) -> None:
    after_commit(messages.send_advance, run_id, now=True)


def _check_dataset(dataset: str, owner: "User") -> None:
    try:
        dataset_id = uuid.UUID(dataset)
    except ValueError:
        raise DatasetNotReady(f"{dataset!r} is no id of a data set") from None
    row = datasets_visible_to(owner).filter(pk=dataset_id).first()
    if row is None:
        raise DatasetNotReady(f"there is no data set {dataset_id}")
    if row.status != DatasetStatus.READY:
        raise DatasetNotReady(f"data set {row.name} is {row.status}, not ready")
