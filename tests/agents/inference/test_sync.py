"""New weights, worker by worker, against scripted workers."""

import asyncio

import pytest

from agents.errors import SyncFailed
from agents.inference.sync import Weights, bring_up_to_date, missing, sync_worker
from tests.agents.inference.test_client import ScriptedWorker, error
from tests.agents.inference.test_registry import worker

NEW = Weights(version=4, path="/p", sha256="1" * 64)


async def start(scripted, worker_id="w1"):
    server = await asyncio.start_server(scripted.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    return worker(worker_id, url=f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("have", "lacks"),
    [
        ({"models": {"run-a": 4}, "sha256s": {"run-a": "1" * 64}}, False),
        ({"models": {"run-a": 3}, "sha256s": {"run-a": "1" * 64}}, True),
        ({"models": {"run-a": 4}, "sha256s": {"run-a": "2" * 64}}, True),
        ({"models": {}, "sha256s": {}}, True),
    ],
)
def test_a_worker_lacks_what_differs_in_version_or_hash(have, lacks):
    assert bool(missing(worker(**have), {"run-a": NEW})) is lacks


@pytest.mark.asyncio
async def test_a_sync_sends_the_version():
    scripted = ScriptedWorker((200, {}))

    await sync_worker(
        await start(scripted),
        model="run-a",
        version=4,
        path="/p",
        sha256="1" * 64,
        secret="s",
    )

    assert scripted.bodies == [
        b'{"model":"run-a","version":4,"path":"/p","sha256":"' + b"1" * 64 + b'"}'
    ]


@pytest.mark.asyncio
async def test_a_refusal_names_the_worker_and_its_reason():
    refusing = await start(ScriptedWorker(error(400, "agents.policy_invalid")))

    with pytest.raises(SyncFailed, match=r"w1 said agents\.policy_invalid: because"):
        await sync_worker(
            refusing, model="m", version=1, path="/p", sha256="1" * 64, secret="s"
        )


@pytest.mark.asyncio
async def test_a_failed_sync_is_tried_once_more():
    flaky = ScriptedWorker(error(503, "engine_failed"), (200, {}))

    outcomes = await bring_up_to_date([await start(flaky)], {"run-a": NEW}, secret="s")

    assert len(flaky.bodies) == 2
    assert [(o.worker_id, o.model, o.version, o.error) for o in outcomes] == [
        ("w1", "run-a", 4, "")
    ]


@pytest.mark.asyncio
async def test_a_dead_worker_does_not_stop_the_others():
    alive = ScriptedWorker((200, {}))
    workers = [worker("w0", url="http://127.0.0.1:9"), await start(alive)]

    outcomes = await bring_up_to_date(workers, {"run-a": NEW}, secret="s")

    assert "w0 is unreachable" in outcomes[0].error
    assert (outcomes[1].worker_id, outcomes[1].error) == ("w1", "")


@pytest.mark.parametrize(("num_workers", "at_a_time"), [(3, 1), (4, 2)])
@pytest.mark.asyncio
async def test_a_few_workers_load_at_a_time(num_workers, at_a_time):
    shared = ScriptedWorker(*[(200, {})] * 8, delay_s=0.05)
    workers = [await start(shared, f"w{n}") for n in range(num_workers)]
    desired = {"run-a": NEW, "run-b": NEW}

    outcomes = await bring_up_to_date(workers, desired, secret="s")

    assert len(outcomes) == 2 * num_workers
    assert shared.max_together == at_a_time


@pytest.mark.asyncio
async def test_what_is_up_to_date_is_left_alone():
    scripted = ScriptedWorker()
    current = await start(scripted)
    desired = {"run-a": Weights(version=3, path="/p", sha256="0" * 64)}

    assert await bring_up_to_date([current], desired, secret="s") == []
    assert scripted.bodies == []
