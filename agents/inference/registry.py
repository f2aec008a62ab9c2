"""Who is there: each inference worker renews its own entry in Redis every second.

An entry that is not renewed expires, so a worker that was killed is forgotten.
"""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

KEY_PREFIX: Final = "oche:inference:"
HEARTBEAT_S: Final = 1.0
EXPIRES_S: Final = 5


class LiveWorker(BaseModel):
    """A worker as it last described itself."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    worker_id: str
    url: str
    pid: int
    models: dict[str, int]
    """Name of each loaded model -> its version."""
    sha256s: dict[str, str]
    """Name of each loaded model -> hash of its weights."""
    in_flight: int
    waiting: int
    tokens_sampled: int
    busy_seconds: float
    started_at: float


async def live_workers(redis: "AsyncRedis") -> list[LiveWorker]:
    """Return the workers with a fresh entry, by id."""
    keys = [key async for key in redis.scan_iter(match=f"{KEY_PREFIX}*", count=1000)]
    return _read(await redis.mget(keys)) if keys else []


def live_workers_sync(redis: "Redis") -> list[LiveWorker]:
    """Do the same from code that is not asynchronous."""
    keys = list(redis.scan_iter(match=f"{KEY_PREFIX}*", count=1000))
    return _read(redis.mget(keys)) if keys else []


async def announce(redis: "AsyncRedis", worker: LiveWorker) -> None:
    """Write or renew a worker's entry."""
    key = KEY_PREFIX + worker.worker_id
    await redis.set(key, worker.model_dump_json(), ex=EXPIRES_S)


async def withdraw(redis: "AsyncRedis", worker_id: str) -> None:
    """Remove a worker's entry: it takes no more requests."""
    await redis.delete(KEY_PREFIX + worker_id)


def _read(entries: Iterable[Any]) -> list[LiveWorker]:
    workers = []
    for entry in entries:
        # An entry may expire between the scan and the reading.
        if entry is None:
            continue
        try:
            workers.append(LiveWorker.model_validate_json(entry))
        except ValidationError:
            # A worker of another release: nothing that this one could speak to.
            continue
    return sorted(workers, key=lambda worker: worker.worker_id)
