"""The registry of live workers, on a real Redis."""

import pytest
from redis.asyncio import Redis as AsyncRedis

from agents.inference import registry
from agents.inference.registry import LiveWorker


def worker(worker_id="w1", **fields):
    values = {
        "url": "http://127.0.0.1:1",
        "pid": 1,
        "models": {"run-a": 3},
        "sha256s": {"run-a": "0" * 64},
        "in_flight": 0,
        "waiting": 0,
        "tokens_sampled": 0,
        "busy_seconds": 0.0,
        "started_at": 0.0,
    }
    return LiveWorker(worker_id=worker_id, **values | fields)


async def announce(redis_url, *workers):
    async with AsyncRedis.from_url(redis_url) as connection:
        for one in workers:
            await registry.announce(connection, one)
        return await registry.live_workers(connection)


@pytest.mark.asyncio
async def test_workers_are_read_as_they_described_themselves(redis, redis_url):
    found = await announce(redis_url, worker("w2"), worker("w1"))

    assert found == [worker("w1"), worker("w2")]
    assert registry.live_workers_sync(redis) == found


@pytest.mark.asyncio
async def test_nobody_is_there_at_first(redis, redis_url):
    assert await announce(redis_url) == []


@pytest.mark.asyncio
async def test_an_entry_expires_after_five_seconds(redis, redis_url):
    await announce(redis_url, worker())

    assert 4_000 < redis.pttl("oche:inference:w1") <= 5_000


@pytest.mark.asyncio
async def test_a_worker_that_withdraws_is_gone(redis, redis_url):
    await announce(redis_url, worker())

    async with AsyncRedis.from_url(redis_url) as connection:
        await registry.withdraw(connection, "w1")

    assert registry.live_workers_sync(redis) == []


@pytest.mark.asyncio
async def test_an_entry_of_another_release_is_passed_over(redis, redis_url):
    redis.set("oche:inference:old", '{"worker_id": "old"}')

    assert await announce(redis_url, worker()) == [worker()]
