"""The worker as a process of its own: it registers, serves, is killed, comes back."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

from agents.inference import registry
from agents.inference.client import InferenceClient
from agents.inference.server import main, parse_options
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


def wait_for(condition, what, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if (found := condition()) is not None:
            return found
        time.sleep(0.05)
    pytest.fail(f"no {what} within {timeout_s} s")


def registered(redis, pid):
    found = registry.live_workers_sync(redis)
    return next((one for one in found if one.pid == pid), None)


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
        # At once, not with the next heartbeat: others wait for the version.
        wait_for(
            lambda: registered(redis, process.pid).models == {"run-a": 2} or None,
            "new version in the registry",
            timeout_s=0.8,
        )
        answers = asyncio.run(ask(redis_url, 8, temperature=0.0, max_tokens=6))

        logprobs, _ = plain_logprobs(policies / "1", prompt(), as_sampled(answers[0]))
        assert answers[0].logprobs == pytest.approx(logprobs, abs=1e-4)
        assert {tuple(one.versions.tolist()) for one in answers} == {(2,) * 6}

        long = ask(redis_url, 1, temperature=0.0, max_tokens=400, deadline_s=20)
        (answer,) = asyncio.run(terminate_while(process, redis, long))
        assert len(answer.response_token_ids) == 400
        assert process.wait(timeout=20) in (0, -signal.SIGTERM)
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
            ask(redis_url, 4, temperature=1.0, max_tokens=300, deadline_s=90)
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

    wait_for(lambda: True if is_gone(worker.pid) else None, "end", timeout_s=20)


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_without_a_secret_it_does_not_start(monkeypatch):
    monkeypatch.setenv("OCHE_INFERENCE_SECRET", "")

    with pytest.raises(SystemExit, match="OCHE_INFERENCE_SECRET holds no secret"):
        main(["--worker-id", "w1", "--redis-url", "unix:///s"])


def test_one_thread_and_a_free_port_unless_told_otherwise():
    options = parse_options(["--worker-id", "w1", "--redis-url", "unix:///s"])

    assert (options.threads, options.port) == (1, 0)
