"""Which weights the inference workers should hold, and bringing them there.

Recomputed from the rows each time: a worker that was restarted gets its models back
at the next look, whoever forgot what.
"""

import asyncio
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Final

from django.conf import settings
from redis.exceptions import RedisError

from agents.inference.registry import LiveWorker, live_workers_sync
from agents.inference.sync import SyncOutcome, bring_up_to_date, missing
from agents.inference.types import Weights
from agents.policies import builtin
from training.errors import PolicyNotFound
from training.models import Checkpoint, Evaluation, Run
from training.services import messages
from training.services.policies import (
    policy_resolve,
    served_name,
    weights_of_checkpoint,
)
from training.states import EvaluationStatus, RunStatus

logger = logging.getLogger(__name__)

SERVED_WHILE: Final = (RunStatus.STARTING, RunStatus.RUNNING, RunStatus.PAUSED)
LOCK_S: Final = 180
"""Longer than one worker's sync with its retries ever takes."""
_UNLOCK: Final = """
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
return 0
"""


def desired_weights() -> dict[str, Weights]:
    """Return what should be served now, by the name it is served by."""
    return _of_runs() | _of_evaluations()


def workers_alive() -> list[LiveWorker]:
    """Return the inference workers that are alive; none if Redis is not."""
    try:
        return live_workers_sync(messages.redis_connection())
    except RedisError:
        return []


def weights_sync() -> list[SyncOutcome]:
    """Bring every inference worker up to date, each one when it is free for it."""
    workers = workers_alive()
    if not workers:
        return []
    desired = desired_weights()
    behind = [worker for worker in workers if missing(worker, desired)]
    if not behind:
        return []
    outcomes = asyncio.run(_sync(behind, desired, num_alive=len(workers)))
    for outcome in outcomes:
        _tell(outcome)
    return outcomes


def is_live_everywhere(run: Run) -> bool:
    """Return whether every inference worker serves the run's newest version."""
    workers = workers_alive()
    name = served_name(run.pk)
    return bool(workers) and all(
        worker.models.get(name) == run.policy_version for worker in workers
    )


def is_served(run: Run) -> bool:
    """Return whether any inference worker has the run's policy."""
    name = served_name(run.pk)
    return any(name in worker.models for worker in workers_alive())


def _of_runs() -> dict[str, Weights]:
    runs = Run.objects.filter(status__in=SERVED_WHILE, kind="rl")
    wanted = dict(runs.values_list("pk", "policy_version"))
    rows = Checkpoint.objects.filter(run_id__in=list(wanted))
    return {
        served_name(row.run_id): weights_of_checkpoint(row)
        for row in rows
        if row.version == wanted[row.run_id]
    }


def _of_evaluations() -> dict[str, Weights]:
    found = {}
    running = Evaluation.objects.filter(status=EvaluationStatus.RUNNING)
    served_ones = running.exclude(policy__in=builtin.NAMES)
    for evaluation in served_ones.select_related("owner"):
        try:
            served = policy_resolve(reference=evaluation.policy, owner=evaluation.owner)
        except PolicyNotFound as error:
            logger.warning("evaluation %s: %s", evaluation.pk, error)
        else:
            found[served.model] = served.weights
    return found


async def _sync(
    workers: Sequence[LiveWorker], desired: Mapping[str, Weights], *, num_alive: int
) -> list[SyncOutcome]:
    at_a_time = asyncio.Semaphore(2 if num_alive >= 4 else 1)

    async def one(worker: LiveWorker) -> list[SyncOutcome]:
        async with at_a_time:
            return await _sync_one(worker, desired)

    found = await asyncio.gather(*(one(worker) for worker in workers))
    return [outcome for outcomes in found for outcome in outcomes]


async def _sync_one(
    worker: LiveWorker, desired: Mapping[str, Weights]
) -> list[SyncOutcome]:
    """Sync one worker unless another process is at it: two syncs never overlap."""
    redis = messages.redis_connection()
    key, token = f"oche:sync:{worker.worker_id}", uuid.uuid4().hex
    if not await asyncio.to_thread(redis.set, key, token, nx=True, ex=LOCK_S):
        return []
    try:
        return await bring_up_to_date(
            [worker], desired, secret=settings.INFERENCE_SECRET
        )
    finally:
        await asyncio.to_thread(redis.eval, _UNLOCK, 1, key, token)


def _tell(outcome: SyncOutcome) -> None:
    fields = {
        "worker": outcome.worker_id,
        "model": outcome.model,
        "version": outcome.version,
    }
    if outcome.error:
        logger.error("sync failed: %s", outcome.error, extra=fields)
    else:
        logger.info("weights synced", extra=fields)
