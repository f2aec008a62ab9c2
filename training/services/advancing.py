"""One look at a run: everything that can be done for it now is done.

Called after each event and once a second. It holds the run's lease, and decides by
the rows alone, so that it may die anywhere and be called any number of times.
"""

import logging
from uuid import UUID

from pydantic import TypeAdapter

from studio.common.logs import bound
from training.config import RlConfig, RunConfig, SftConfig
from training.errors import LeaseLost, TrainingError
from training.models import Batch, Run
from training.services import messages
from training.services.batches import (
    LIVE,
    batch_create,
    batch_form,
    batches_send_again,
)
from training.services.dispatching import groups_dispatch
from training.services.ending import (
    run_fail,
    run_is_done,
    run_succeed,
    run_wind_down,
)
from training.services.groups import groups_advance, world_is_broken
from training.services.leases import (
    RunLease,
    owned_run,
    run_lease_claim,
    run_lease_release,
)
from training.services.starting import WAITS, run_admit, run_prepare
from training.services.syncing import is_live_everywhere, is_served
from training.services.transitions import run_note
from training.states import RUN_ACTIVE, RunStatus

logger = logging.getLogger(__name__)

CONFIGS: TypeAdapter[SftConfig | RlConfig] = TypeAdapter(RunConfig)


def runs_to_advance() -> list[UUID]:
    """Return the runs that somebody has to look at."""
    wanted = (*RUN_ACTIVE, RunStatus.QUEUED)
    return list(Run.objects.filter(status__in=wanted).values_list("pk", flat=True))


def run_advance(*, run_id: UUID) -> None:
    """Look at a run, unless another manager is at it.

    Raises:
        Exception: A bug; an expected failure ends the run with its reason instead.
    """
    messages.advance_heard(run_id)
    lease = run_lease_claim(run_id=run_id)
    if lease is None:
        return
    with bound(run_id=str(run_id)):
        try:
            _advance(lease)
        except LeaseLost as error:
            logger.warning("lease lost: %s", error)
        except TrainingError as error:
            logger.error("run failed: %s", error)
            run_fail(run_id=run_id, reason=str(error))
        finally:
            run_lease_release(lease)


def _advance(lease: RunLease) -> None:
    run = Run.objects.select_related("owner").get(pk=lease.run_id)
    config = CONFIGS.validate_python(run.config)
    if run.status == RunStatus.QUEUED and run_admit(run):
        run.refresh_from_db()
    if run.status == RunStatus.STARTING and run_prepare(run, config):
        run.refresh_from_db()
    if run.status == RunStatus.STOPPING:
        run_wind_down(lease)
    if run.status in (RunStatus.RUNNING, RunStatus.PAUSED):
        _go_on(lease, run, config)


def _go_on(lease: RunLease, run: Run, config: RlConfig | SftConfig) -> None:
    if isinstance(config, RlConfig):
        groups_advance(lease, config=config)
        if world_is_broken(run.pk):
            run_fail(run_id=run.pk, reason=_newest_reason(run))
            return
    done = run_is_done(run, config)
    if done and not _is_training(run):
        run_succeed(lease, reason=done)
        return
    batches_send_again(lease)
    if run.status == RunStatus.PAUSED or done:
        return
    if isinstance(config, RlConfig):
        batch_form(lease, config=config)
        _roll_out(lease, run, config)
    else:
        _next_slice(lease)


def _roll_out(lease: RunLease, run: Run, config: RlConfig) -> None:
    """Begin new rollouts, if there is anyone to decide in them."""
    if not is_served(run):
        run_note(run_id=run.pk, reason=WAITS)
        messages.send_sync()
        return
    if run.reason == WAITS:
        run_note(run_id=run.pk, reason="")
    if config.asynchrony.max_staleness == 0 and not is_live_everywhere(run):
        messages.send_sync()
        return
    groups_dispatch(lease, config=config)


def _next_slice(lease: RunLease) -> None:
    """Give a supervised run its next optimizer steps."""
    if Batch.objects.filter(run_id=lease.run_id, status__in=LIVE).exists():
        return
    with owned_run(lease) as run:
        if not run.batches.filter(status__in=LIVE).exists():
            batch_create(run)


def _is_training(run: Run) -> bool:
    return run.batches.filter(status__in=LIVE[1:]).exists()


def _newest_reason(run: Run) -> str:
    run.refresh_from_db(fields=["reason"])
    return f"Every rollout breaks. {run.reason}"
