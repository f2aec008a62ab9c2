"""Messages to the workers, by task name; ids travel, never objects.

A message may be lost or come twice: the rows are the truth, receivers claim them,
and the manager sends again what nobody claimed. So a broker that is down breaks
nothing that is committed.
"""

import logging
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from uuid import UUID

from celery import current_app
from django.conf import settings
from kombu import Producer
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from studio.common.redis import Redis, connect

logger = logging.getLogger(__name__)

MANAGER: Final = "manager"
ROLLOUTS: Final = "rollouts"
TRAINING: Final = "training"

ADVANCE_DELAY_S: Final = 0.15
"""What is gathered into one look at a run: a dozen episodes may end each second."""
ADVANCE_MARK_TTL_S: Final = 3
"""After this long a request to look that never arrived no longer hides others."""


@lru_cache(maxsize=1)
def redis_connection() -> Redis:
    """Return this process's connections to Redis."""
    return connect(settings.REDIS_URL)


def send_trajectories(ids: Iterable[UUID]) -> None:
    """Ask the environment workers for rollouts."""
    with current_app.producer_or_acquire() as producer:
        for trajectory_id in ids:
            if not _send(
                "rollouts.run_trajectory",
                ROLLOUTS,
                str(trajectory_id),
                producer=producer,
            ):
                return


def send_train_step(batch_id: UUID) -> None:
    """Ask a trainer for an optimizer step."""
    _send("training.train_step", TRAINING, str(batch_id))


def send_prepare_engine(run_id: UUID) -> None:
    """Ask a trainer to load the run's policy, so that the first step does not wait."""
    _send("training.prepare_engine", TRAINING, str(run_id))


def send_release_engine(run_id: UUID) -> None:
    """Ask the trainer to end the engine of a run that is over."""
    _send("training.release_engine", TRAINING, str(run_id))


def send_sync() -> None:
    """Ask the manager to bring the inference workers up to date."""
    _send("training.sync_weights", MANAGER)


def send_import_dataset(dataset_id: UUID) -> None:
    """Ask the manager to read an upload."""
    _send("training.import_dataset", MANAGER, str(dataset_id))


def send_advance_evaluation(evaluation_id: UUID) -> None:
    """Ask the manager to look at an evaluation, soon, once."""
    if _mark(f"oche:advance:evaluation:{evaluation_id}"):
        _send(
            "training.advance_evaluation",
            MANAGER,
            str(evaluation_id),
            countdown=ADVANCE_DELAY_S,
        )


def send_advance(run_id: UUID, *, now: bool = False) -> None:
    """Ask the manager to look at a run.

    Args:
        run_id: The run.
        now: At once; otherwise soon, and once however often it is asked.
    """
    if now:
        _send("training.advance_run", MANAGER, str(run_id))
    elif _mark(_advance_key(run_id)):
        _send("training.advance_run", MANAGER, str(run_id), countdown=ADVANCE_DELAY_S)


def advance_heard(thing_id: UUID, *, kind: str = "run") -> None:
    """Let requests through again; call before looking, so that none is missed."""
    try:
        redis_connection().delete(f"oche:advance:{kind}:{thing_id}")
    except RedisError as error:
        logger.warning("redis: %s", error)


def num_waiting_rollouts() -> int | None:
    """Return how many messages wait for environment workers; None if unknown."""
    try:
        return int(redis_connection().llen(ROLLOUTS))
    except RedisError:
        return None


def _advance_key(run_id: UUID) -> str:
    return f"oche:advance:run:{run_id}"


def _mark(key: str) -> bool:
    try:
        return bool(redis_connection().set(key, 1, nx=True, ex=ADVANCE_MARK_TTL_S))
    except RedisError:
        return True


def _send(
    name: str,
    queue: str,
    *args: str,
    countdown: float | None = None,
    producer: Producer | None = None,
) -> bool:
    try:
        current_app.send_task(
            name,
            args=args,
            queue=queue,
            countdown=countdown,
            producer=producer,
            ignore_result=True,
        )
    except OperationalError as error:
        logger.warning("message %s not sent: %s", name, error)
        return False
    return True
