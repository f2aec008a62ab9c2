"""The one place where a run's status is written."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from training.errors import InvalidTransition
from training.events import StatusChanged, publish
from training.models import Run, RunTransition
from training.services.commits import after_commit
from training.states import RUN_MOVES, RUN_OVER, RunStatus


@transaction.atomic
def run_transition(
    *, run_id: UUID, to: RunStatus, reason: str = "", who: str = ""
) -> Run:
    """Move a run to another status, record the move and tell the watchers.

    The row is locked, so of two processes that move the same run one succeeds and
    the other finds the move no longer allowed.

    Args:
        run_id: The run to move.
        to: The status to move to.
        reason: Why, in words a user can act on.
        who: User name, or the process that moves it.

    Raises:
        Run.DoesNotExist: If there is no such run.
        InvalidTransition: If ``states.RUN_MOVES`` has no such move.
    """
    run = Run.objects.select_for_update().get(pk=run_id)
    old = RunStatus(run.status)
    if to not in RUN_MOVES[old]:
        raise InvalidTransition(f"a run that is {old} cannot become {to}")

    now = timezone.now()
    run.status = to
    run.reason = reason
    if to is RunStatus.QUEUED:
        run.finished_at = None
    if to is RunStatus.STARTING and run.started_at is None:
        run.started_at = now
    if to in RUN_OVER:
        run.finished_at = now
    run.save(update_fields=["status", "reason", "started_at", "finished_at"])

    RunTransition.objects.create(
        run=run, old_status=old, new_status=to, reason=reason, who=who, at=now
    )
    event = StatusChanged(
        run_id=run_id, old_status=old, new_status=to, reason=reason, at=now
    )
    # Robust: a browser that hears nothing must not undo what was committed.
    after_commit(publish, event)
    return run


def run_note(*, run_id: UUID, reason: str) -> None:
    """Say why a run is where it is, without moving it."""
    Run.objects.filter(pk=run_id).exclude(reason=reason).update(reason=reason)
