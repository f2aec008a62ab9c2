"""Environment workers that were announced in a real Redis; nothing runs behind them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from environments import selectors
from environments.workers import (
    PREFIX,
    EnvironmentWorker,
    SlotEntry,
    worker_registry,
)
from studio import cluster
from studio.common.redis import Redis, connect
from studio.common.registry import Registry
from studio.common.usage import MachineUsage
from tests.worlds import redis_url

__all__ = ["announce", "cluster_redis", "forget", "play", "redis_url", "registry_of"]

CACHES = (
    selectors.workers,
    selectors.event_log,
    cluster._redis,
    cluster._processes,
)
MACHINE = MachineUsage(
    num_cpus=2,
    cpu_percent=50,
    memory_bytes=10**9,
    memory_total_bytes=4 * 10**9,
    disk_bytes=10**9,
    disk_total_bytes=10**10,
)


@pytest.fixture
def cluster_redis(redis_url: str, settings: Any) -> Iterator[Redis]:
    """Return an empty Redis; pages and services read the same."""
    settings.REDIS_URL = redis_url
    forget()
    with connect(redis_url) as redis:
        redis.flushall()
        yield redis
    forget()


def forget() -> None:
    """Have whoever asks next connect anew."""
    for cache in CACHES:
        cache.cache_clear()


def registry_of(redis: Redis) -> Registry[EnvironmentWorker]:
    """Return the registry in a Redis."""
    return worker_registry(redis)


def play(slot: str, *, owner: User | None = None, **more: Any) -> SlotEntry:
    """Return a slot that plays an episode."""
    fields = {
        "slot": slot,
        "state": "acting",
        "for_s": 3.0,
        "backend": "miniwob",
        "task": "miniwob/click-test",
        "run_id": "6f0e2bb0-0000-4000-8000-000000000001",
        "trajectory_id": "6f0e2bb0-0000-4000-8000-000000000002",
        "owner_id": owner.pk if owner else None,
        "step": 2,
        "max_steps": 9,
    }
    return SlotEntry(**fields | more)


def announce(
    redis: Redis,
    name: str,
    *,
    silent_s: float = 0.0,
    slots: list[SlotEntry] | None = None,
    **more: Any,
) -> None:
    """Let a worker begin a life and speak once, some time ago."""
    fields = {
        "host": "here",
        "pid": 77,
        "queue": "rollouts",
        "code": "c0de",
        "up_s": 60.0,
        "is_supervised": True,
        "slots": tuple(slots or [SlotEntry(slot=f"{name}-0")]),
        "machine": MACHINE,
    }
    registry = registry_of(redis)
    fence = registry.join(name)
    registry.announce(name, fence, EnvironmentWorker(**fields | more))
    redis.zincrby(f"{PREFIX}index", -silent_s, f"{name}#{fence}")
