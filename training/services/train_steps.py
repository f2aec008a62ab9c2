"""One optimizer step, or a slice of short ones: claimed, done, recorded once."""

import logging
from typing import Final
from uuid import UUID

from django.db import transaction

from studio.common.logs import bound
from training.config import RlConfig, SftConfig
from training.engine.launcher import EngineDied, EngineProcess, EngineRefused
from training.engine.protocol import StepResult, TrainBatch, TrainRows
from training.errors import EngineGaveUp, LeaseLost, TrainingError
from training.models import Batch, Run
from training.services import messages
from training.services.advancing import CONFIGS
from training.services.batch_claims import BatchClaim, batch_claim, run_is_active
from training.services.batches import batch_create, batch_file
from training.services.checkpoints import checkpoint_info, checkpoint_record
from training.services.commits import after_commit
from training.services.ending import run_fail
from training.services.engines import RESIDENT, ResidentEngines
from training.services.files import storage
from training.services.measuring import metrics_record, trained_values
from training.states import BatchStatus, RunStatus

logger = logging.getLogger(__name__)

MAX_TRIES: Final = 3
"""Engines that may die at one step before the run fails."""
STEP_TIMEOUT_S: Final = 1800.0
SLICE_S: Final = 2.0
"""Supervised steps are short: one task does as many as fit in."""
TRAINER: Final = "trainer"


def engine_prepare(*, run_id: UUID, engines: ResidentEngines = RESIDENT) -> None:
    """Load a run's policy before its first batch is there.

    A policy that cannot be loaded fails the run: no inference worker would take it
    either, and the run would wait for one for ever.
    """
    if not run_is_active(run_id):
        return
    run = Run.objects.get(pk=run_id)
    last = ""
    for _ in range(MAX_TRIES):
        try:
            engines.engine_for(run, CONFIGS.validate_python(run.config))
        except (EngineDied, TrainingError) as error:
            logger.warning("engine not ready: %s", error)
            last = str(error)
        else:
            return
    if run_is_active(run_id):
        reason = f"The training process failed {MAX_TRIES} times to start. {last}"
        run_fail(run_id=run_id, reason=reason, who=TRAINER)


def batch_train(*, batch_id: UUID, engines: ResidentEngines = RESIDENT) -> None:
    """Train on a batch and record the results; a second delivery finds it claimed.

    Raises:
        Exception: A bug, once it is on the run's timeline.
    """
    claim = batch_claim(batch_id=batch_id)
    if claim is None:
        return
    run = claim.batch.run
    with bound(run_id=str(run.pk), step=claim.batch.step):
        try:
            _train(claim, run, engines)
        except LeaseLost as error:
            logger.warning("nothing recorded: %s", error)
            # Its memory is ahead of the rows now.
            engines.end(run.pk)
        except (TrainingError, EngineRefused) as error:
            engines.end(run.pk)
            claim.give_up()
            run_fail(run_id=run.pk, reason=str(error), who=TRAINER)
        except Exception:
            engines.end(run.pk)
            claim.give_up()
            reason = "Internal error; the log has the details"
            run_fail(run_id=run.pk, reason=reason, who=TRAINER)
            raise
    messages.send_advance(run.pk, now=True)


def _train(claim: BatchClaim, run: Run, engines: ResidentEngines) -> None:
    config = CONFIGS.validate_python(run.config)
    with claim.kept_alive():
        results = _ask(claim.batch, run, config, engines)
    _record(claim, results)


def _ask(
    batch: Batch, run: Run, config: RlConfig | SftConfig, engines: ResidentEngines
) -> list[StepResult]:
    """Have the engine do it; one that dies is replaced and asked for the same again."""
    last: EngineDied | None = None
    for _ in range(MAX_TRIES):
        try:
            engine = engines.engine_for(run, config)
            if isinstance(config, SftConfig):
                return _learn_rows(engine, batch, config)
            return _learn_batch(engine, batch)
        except EngineDied as error:
            logger.warning("engine died: %s", error)
            engines.end(run.pk)
            last = error
    raise EngineGaveUp(
        f"The training process failed {MAX_TRIES} times at optimizer step "
        f"{batch.step}. {last}"
    )


def _learn_batch(engine: EngineProcess, batch: Batch) -> list[StepResult]:
    """Do the batch's step, and before it those that a lost checkpoint took along."""
    results: list[StepResult] = []
    for step in range(min(engine.ready.step + 1, batch.step), batch.step + 1):
        request = TrainBatch(step=step, batch=_file_of(batch, step))
        results += engine.request(request, timeout_s=STEP_TIMEOUT_S).results
        engine.ready = engine.ready.model_copy(update={"step": step})
    return results


def _file_of(batch: Batch, step: int) -> str:
    if step == batch.step:
        return str(batch_file(batch))
    earlier = storage().batch(batch.run_id, step)
    if not earlier.exists():
        raise EngineGaveUp(
            f"The newest checkpoint that is whole ends before optimizer step {step}, "
            f"and that step's batch is gone"
        )
    return str(earlier)


def _learn_rows(
    engine: EngineProcess, batch: Batch, config: SftConfig
) -> list[StepResult]:
    """Do a slice of steps, after what the engine found done but nobody recorded."""
    results: list[StepResult] = []
    resumed = engine.ready.resumed_from
    if resumed and engine.ready.step >= batch.step:
        info, metrics = checkpoint_info(storage().absolute(resumed))
        results.append(StepResult(step=info.step, metrics=metrics, checkpoint=info))
    request = TrainRows(until_step=config.max_optimizer_steps, seconds=SLICE_S)
    while not results or results[-1].step < batch.step:
        # Resumed further back, it first does again what is recorded already.
        done = engine.request(request, timeout_s=STEP_TIMEOUT_S).results
        if not done:
            break
        results += done
        newest = {"step": done[-1].step, "resumed_from": None}
        engine.ready = engine.ready.model_copy(update=newest)
    return results


def _record(claim: BatchClaim, results: list[StepResult]) -> None:
    """Keep everything that came of a batch, all of it or nothing.

    Raises:
        LeaseLost: If another trainer took the batch over.
    """
    with transaction.atomic():
        claim.settle()
        run = Run.objects.select_for_update().get(pk=claim.batch.run_id)
        for result in results:
            values = result.metrics | trained_values(
                run,
                step=result.step,
                claimed_at=claim.claimed_at,
                busy_s=result.metrics.get("timing_s/step", 0.0),
            )
            if result.checkpoint is not None:
                checkpoint_record(run, result.checkpoint)
            run.optimizer_step = max(run.optimizer_step, result.step)
            metrics_record(run, source="trainer", step=result.step, values=values)
        run.save(update_fields=["optimizer_step", "policy_version"])
        if _goes_on_by_itself(run):
            batch_create(run)
        published = any(result.checkpoint for result in results)
        if published and run.kind == "rl":
            after_commit(messages.send_sync)


def _goes_on_by_itself(run: Run) -> bool:
    """Supervised runs need no manager between their slices."""
    config = CONFIGS.validate_python(run.config)
    return (
        isinstance(config, SftConfig)
        and run.status == RunStatus.RUNNING
        and run.optimizer_step < config.max_optimizer_steps
        and not run.batches.filter(status=BatchStatus.READY).exists()
    )
