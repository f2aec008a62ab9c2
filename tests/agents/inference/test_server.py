"""The worker as a process of its own: it registers, serves, is killed, comes back."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time

import httpx
import pytest
from redis.asyncio import Redis as AsyncRedis

from agents.inference import registry
from agents.inference.app import InferenceApp
from agents.inference.client import InferenceClient
from agents.inference.server import Heartbeat, main, parse_options
from agents.inference.sync import bring_up_to_date
from tests.agents.inference.helpers import plain_logprobs, prompt

SECRET = "s3cret"


def command(redis_url, worker_id="w1"):
    options = ["--worker-id", worker_id, "--redis-url", redis_url]
    return [sys.executable, "-m", "agents.inference.server", *options]


@contextlib.contextmanager
def running(redis_url):
    environment = os.environ | {"OCHE_INFERENCE_SECRET": SECRET}
    with subprocess.Popen(command(redis_url), env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition, what, timeout_s=240):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if (found := condition()) is not None:
            return found
        time.sleep(0.05)
    pytest.fail(f"no {what} within {timeout_s} s")


def registered(redis, pid):
    found = registry.live_workers_sync(redis)
    return next((one for one in found if one.pid == pid), None)


def has_version(redis, pid, version):
    found = registered(redis, pid)
    return True if found and found.models.get("run-a") == version else None


def sync(worker, weights, model="run-a"):
    (outcome,) = asyncio.run(
        bring_up_to_date([worker], {model: weights}, secret=SECRET)
    )
    assert outcome.error == ""


async def ask(redis_url, count, **options):
    async with InferenceClient(redis_url, SECRET) as client:
        chat = prompt()
        asked = (client.complete(chat, model="run-a", **options) for _ in range(count))
        return await asyncio.gather(*asked)


@pytest.mark.slow
def test_a_worker_serves_from_registration_to_its_orderly_end(
    redis, redis_url, weights_of, policies
):
    with running(redis_url) as process:
        worker = wait_for(lambda: registered(redis, process.pid), "registration")
        assert (worker.worker_id, worker.models) == ("w1", {})

        sync(worker, weights_of("1", version=2))
        wait_for(
            lambda: has_version(redis, process.pid, 2),
            "new version in the registry",
        )
        answers = asyncio.run(ask(redis_url, 8, temperature=0.0, max_tokens=6))

        logprobs, _ = plain_logprobs(policies / "1", prompt(), as_sampled(answers[0]))
        assert answers[0].logprobs == pytest.approx(logprobs, abs=1e-4)
        assert {tuple(one.versions.tolist()) for one in answers} == {(2,) * 6}

        long = ask(redis_url, 1, temperature=0.0, max_tokens=400, deadline_s=240)
        (answer,) = asyncio.run(terminate_while(process, redis, long))
        assert len(answer.response_token_ids) == 400
        assert process.wait(timeout=60) == 0
        assert registry.live_workers_sync(redis) == []


async def terminate_while(process, redis, asking):
    """Tell the worker to end as soon as the request has reached it."""
    task = asyncio.create_task(asking)
    url = registered(redis, process.pid).url
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with httpx.AsyncClient(headers=headers) as http:
        while not (await http.get(f"{url}/oche/state")).json()["in_flight"]:
            pass
    process.terminate()
    return await task


def as_sampled(answer):
    class Tokens:
        token_ids = answer.response_token_ids.tolist()

    return Tokens()


@pytest.mark.slow
def test_a_worker_that_is_killed_and_comes_back_only_delays(
    redis, redis_url, weights_of
):
    async def scenario(first):
        asking = asyncio.create_task(
            # Greedy, since a sampled answer may end before the worker is killed.
            ask(redis_url, 4, temperature=0.0, max_tokens=400, deadline_s=240)
        )
        await asyncio.sleep(0.15)
        first.kill()
        first.wait()
        with running(redis_url) as second:
            worker = await asyncio.to_thread(
                wait_for, lambda: registered(redis, second.pid), "second life"
            )
            await bring_up_to_date(
                [worker], {"run-a": weights_of("1", version=2)}, secret=SECRET
            )
            return await asking

    with running(redis_url) as first:
        worker = wait_for(lambda: registered(redis, first.pid), "registration")
        sync(worker, weights_of("0", version=1))
        answers = asyncio.run(scenario(first))

    assert [one.versions[0] for one in answers] == [2, 2, 2, 2]


@pytest.mark.slow
def test_a_worker_ends_with_the_process_that_started_it(redis, redis_url):
    parent_code = (
        "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(600)"
    )
    environment = os.environ | {"OCHE_INFERENCE_SECRET": SECRET}
    parent = [sys.executable, "-c", parent_code, *command(redis_url)]
    with subprocess.Popen(parent, env=environment) as process:
        worker = wait_for(
            lambda: next(iter(registry.live_workers_sync(redis)), None), "registration"
        )
        process.kill()

    wait_for(lambda: True if is_gone(worker.pid) else None, "end")


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.asyncio
async def test_a_new_version_is_told_at_once_not_with_the_next_heartbeat(
    redis, redis_url, engine, weights_of, monkeypatch
):
    monkeypatch.setattr(registry, "HEARTBEAT_S", 600.0)
    app = InferenceApp(engine=engine, secret=SECRET, worker_id="w1", pid=1)
    async with AsyncRedis.from_url(redis_url) as connection:
        heartbeat = Heartbeat(redis=connection, app=app, url="http://127.0.0.1:1")
        beating = asyncio.create_task(heartbeat.run())
        await until(lambda: has_version(redis, 1, 0))

        engine.load("run-a", weights_of("1", version=7))
        heartbeat.hurry()
        await until(lambda: has_version(redis, 1, 7))

        app.is_draining = True
        heartbeat.hurry()
        await asyncio.wait_for(beating, 60)
    assert registry.live_workers_sync(redis) == []


@pytest.mark.asyncio
async def test_a_heartbeat_outlives_a_redis_that_is_away(engine, caplog):
    app = InferenceApp(engine=engine, secret=SECRET, worker_id="w1", pid=1)
    async with AsyncRedis.from_url("unix:///nowhere/redis.sock") as connection:
        heartbeat = Heartbeat(redis=connection, app=app, url="http://127.0.0.1:1")
        beating = asyncio.create_task(heartbeat.run())
        await until(lambda: "cannot reach the registry" in caplog.text or None)

        app.is_draining = True
        heartbeat.hurry()
        await asyncio.wait_for(beating, 60)

    assert "cannot withdraw from the registry" in caplog.text


async def until(condition):
    async with asyncio.timeout(60):
        while condition() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def test_without_a_secret_it_does_not_start(monkeypatch):
    monkeypatch.setenv("OCHE_INFERENCE_SECRET", "")

    with pytest.raises(SystemExit, match="OCHE_INFERENCE_SECRET holds no secret"):
        main(["--worker-id", "w1", "--redis-url", "unix:///s"])


def test_one_thread_and_a_free_port_unless_told_otherwise():
    options = parse_options(["--worker-id", "w1", "--redis-url", "unix:///s"])

    assert (options.threads, options.port) == (1, 0)
