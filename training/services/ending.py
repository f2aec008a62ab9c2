"""How a run ends: done, stopped, or failed; nothing of it stays in flight."""

from uuid import UUID

from django.db import transaction

from training.config import RlConfig, SftConfig
from training.models import Run
from training.services import messages
from training.services.batches import batches_return
from training.services.commits import after_commit
from training.services.groups import groups_drop
from training.services.leases import RunLease, owned_run
from training.services.measuring import recent_success
from training.services.trajectories import trajectories_cancel
from training.services.transitions import run_transition
from training.states import RUN_MOVES, DropReason, GroupStatus, RunStatus

MANAGER = "manager"


def run_is_done(run: Run, config: RlConfig | SftConfig) -> str:
    """Return why a run has reached its end, or nothing if it has not."""
    if run.optimizer_step >= config.max_optimizer_steps:
        return f"All {config.max_optimizer_steps} optimizer steps are done"
    if isinstance(config, RlConfig) and config.stop_at_success > 0:
        share = recent_success(run, window=config.success_window)
        if share is not None and share >= config.stop_at_success and run.optimizer_step:
            return (
                f"{share:.0%} of the last {config.success_window} rollouts were solved"
            )
    return ""


def run_succeed(lease: RunLease, *, reason: str) -> None:
    """End a run that has done what it should.

    Raises:
        LeaseLost: If another manager took over.
    """
    with owned_run(lease) as run:
        _clear_away(run)
        batches_return(run)
        run_transition(
            run_id=run.pk, to=RunStatus.SUCCEEDED, reason=reason, who=MANAGER
        )


def run_wind_down(lease: RunLease) -> None:
    """Stop a run as soon as no trainer works on it; what is ready is kept for later.

    Raises:
        LeaseLost: If another manager took over.
    """
    with owned_run(lease) as run:
        if run.status != RunStatus.STOPPING:
            return
        _clear_away(run)
        if batches_return(run):
            return
        run_transition(
            run_id=run.pk, to=RunStatus.STOPPED, reason=run.reason, who=MANAGER
        )


@transaction.atomic
def run_fail(*, run_id: UUID, reason: str, who: str = MANAGER) -> None:
    """End a run that cannot go on; does nothing if it is over already."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if RunStatus.FAILED not in RUN_MOVES[RunStatus(run.status)]:
        return
    _clear_away(run)
    batches_return(run)
    run_transition(run_id=run_id, to=RunStatus.FAILED, reason=reason, who=who)


def _clear_away(run: Run) -> None:
    """Cancel what is in flight and drop what is half done."""
    trajectories_cancel(run.trajectories.filter(group__isnull=False))
    groups_drop(run.groups.filter(status=GroupStatus.OPEN), DropReason.RUN_OVER)
    after_commit(messages.send_release_engine, run.pk)
