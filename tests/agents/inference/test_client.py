"""The client, against workers that are scripted but speak real HTTP."""

import asyncio
import contextlib
import io
import json
import time

import pytest
from PIL import Image

from agents.errors import InferenceFailed
from agents.inference.client import InferenceClient
from agents.inference.protocol import ChatRequest, messages_from_wire
from tests.agents.inference.helpers import picture, prompt
from tests.agents.inference.test_registry import worker

ANSWER = {
    "id": "chatcmpl-1",
    "created": 1,
    "model": "run-a",
    "choices": [
        {
            "message": {"content": "<|complete|>"},
            "finish_reason": "stop",
            "token_ids": [300, 4],
            "logprobs": {
                "content": [
                    {"token": "<|complete|>", "logprob": -0.5},
                    {"token": "<|im_end|>", "logprob": -0.25},
                ]
            },
        }
    ],
    "prompt_token_ids": [1, 2, 3],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    "oche": {
        "versions": [7, 7],
        "entropies": [0.1, 0.2],
        "queue_s": 0.01,
        "model_s": 0.02,
    },
}


class ScriptedWorker:
    """Answers requests one after the other from a script, then always the same."""

    def __init__(self, *script, delay_s=0.0):
        self.script = list(script)
        self.delay_s = delay_s
        self.gate = asyncio.Event()
        self.gate.set()
        self.bodies = []
        self.num_together = self.max_together = 0

    async def handle(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.bodies.append(await reader.readexactly(size))
                self.num_together += 1
                self.max_together = max(self.max_together, self.num_together)
                await self.gate.wait()
                await asyncio.sleep(self.delay_s)
                self.num_together -= 1
                status, body = self.script.pop(0) if self.script else (200, ANSWER)
                if status == 0:
                    break
                data = json.dumps(body).encode()
                writer.write(
                    f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\n\r\n".encode()
                    + data
                )
                await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def served(redis, **workers):
    """Serve scripted workers and register them; yields a client."""
    async with contextlib.AsyncExitStack() as stack:
        for name, scripted in workers.items():
            server = await asyncio.start_server(scripted.handle, "127.0.0.1", 0)
            stack.callback(server.close)
            port = server.sockets[0].getsockname()[1]
            entry = worker(name, url=f"http://127.0.0.1:{port}")
            redis.set(f"oche:inference:{name}", entry.model_dump_json())
        url = f"unix://{redis.connection_pool.connection_kwargs['path']}"
        yield await stack.enter_async_context(InferenceClient(url, "s3cret"))


def error(status, code):
    return status, {"error": {"code": code, "detail": "because"}}


@pytest.mark.asyncio
async def test_an_answer_arrives_as_arrays(redis):
    async with served(redis, w1=ScriptedWorker()) as client:
        answer = await client.complete(prompt(), model="run-a")

    assert answer.text == "<|complete|>"
    assert answer.prompt_token_ids.tolist() == [1, 2, 3]
    assert answer.response_token_ids.tolist() == [300, 4]
    assert answer.logprobs.tolist() == [-0.5, -0.25]
    assert answer.entropies == pytest.approx([0.1, 0.2])
    assert answer.versions.tolist() == [7, 7]
    assert answer.token_texts == ("<|complete|>", "<|im_end|>")
    assert answer.timings_s == {"queue": 0.01, "model": 0.02}
    assert str(answer.logprobs.dtype) == "float32"
    assert str(answer.versions.dtype) == "int32"


@pytest.mark.asyncio
async def test_the_very_pixels_are_sent(redis):
    scripted = ScriptedWorker()
    async with served(redis, w1=scripted) as client:
        await client.complete(
            prompt("Go", picture(5)), model="run-a", temperature=0.5, seed=3
        )

    sent = ChatRequest.model_validate_json(scripted.bodies[0])
    messages, images = messages_from_wire(sent.messages)
    assert messages == prompt("Go", picture(5)).messages
    arrived = Image.open(io.BytesIO(images[0])).convert("RGB")
    assert arrived.tobytes() == picture(5).tobytes()
    assert (sent.model, sent.temperature, sent.seed) == ("run-a", 0.5, 3)


@pytest.mark.asyncio
async def test_requests_spread_over_the_workers(redis):
    one, two = ScriptedWorker(), ScriptedWorker()
    one.gate = two.gate = asyncio.Event()
    async with served(redis, w1=one, w2=two) as client:
        asked = [
            asyncio.create_task(client.complete(prompt(), model="run-a"))
            for _ in range(8)
        ]
        while one.num_together + two.num_together < 8:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        one.gate.set()
        await asyncio.gather(*asked)

    assert (one.max_together, two.max_together) == (4, 4)


@pytest.mark.asyncio
async def test_a_worker_that_is_busy_with_others_is_spared(redis):
    one, two = ScriptedWorker(), ScriptedWorker()
    async with served(redis, w1=one, w2=two) as client:
        entry = json.loads(redis.get("oche:inference:w1"))
        redis.set("oche:inference:w1", json.dumps(entry | {"in_flight": 5}))
        for _ in range(3):
            await client.complete(prompt(), model="run-a")

    assert (len(one.bodies), len(two.bodies)) == (0, 3)


@pytest.mark.parametrize(
    "failure",
    [
        error(404, "model_not_loaded"),
        error(503, "draining"),
        error(500, "internal"),
        (0, None),
    ],
)
@pytest.mark.asyncio
async def test_another_worker_is_asked_at_once_when_one_fails(redis, failure):
    one, two = ScriptedWorker(failure), ScriptedWorker()
    async with served(redis, w1=one, w2=two) as client:
        answer = await client.complete(prompt(), model="run-a")

    assert answer.finish_reason == "stop"
    assert (len(one.bodies), len(two.bodies)) == (1, 1)


@pytest.mark.asyncio
async def test_the_only_worker_is_asked_again_later(redis):
    failing = ScriptedWorker(error(503, "draining"), (0, None))
    async with served(redis, w1=failing) as client:
        started = time.monotonic()
        await client.complete(prompt(), model="run-a")

    # It rests for .1 s, then for .2 s.
    assert time.monotonic() - started >= 0.3
    assert len(failing.bodies) == 3


@pytest.mark.asyncio
async def test_a_worker_that_comes_later_answers(redis):
    async with served(redis) as client:
        asking = asyncio.create_task(client.complete(prompt(), model="run-a"))
        await asyncio.sleep(0.3)
        async with served(redis, w1=ScriptedWorker()):
            answer = await asyncio.wait_for(asking, 5)

    assert answer.finish_reason == "stop"


@pytest.mark.parametrize(
    ("workers", "cause"),
    [
        ({}, "no inference worker is alive"),
        ({"w1": [error(503, "draining")] * 99}, "w1 said draining: because"),
        ({"w1": [(0, None)] * 99}, "w1 is unreachable"),
    ],
)
@pytest.mark.asyncio
async def test_past_the_deadline_the_cause_is_named(redis, workers, cause):
    scripted = {name: ScriptedWorker(*script) for name, script in workers.items()}
    async with served(redis, **scripted) as client:
        with pytest.raises(InferenceFailed, match=r"within 0\.25 s: ") as caught:
            await client.complete(prompt(), model="run-a", deadline_s=0.25)

    assert cause in str(caught.value)


@pytest.mark.asyncio
async def test_a_worker_that_never_answers_fails_at_the_deadline(redis):
    async with served(redis, w1=ScriptedWorker(delay_s=30)) as client:
        started = time.monotonic()
        with pytest.raises(InferenceFailed, match="w1 is unreachable: ReadTimeout"):
            await client.complete(prompt(), model="run-a", deadline_s=0.3)

    assert time.monotonic() - started < 15.0


@pytest.mark.asyncio
async def test_a_model_that_nobody_has_is_named(redis):
    async with served(redis, w1=ScriptedWorker()) as client:
        with pytest.raises(InferenceFailed, match="none of 1 inference workers has"):
            await client.complete(prompt(), model="run-z", deadline_s=0.2)


@pytest.mark.parametrize("failure", [error(400, "bad_prompt"), error(401, "x")])
@pytest.mark.asyncio
async def test_a_request_that_is_wrong_is_not_repeated(redis, failure):
    scripted = ScriptedWorker(failure)
    async with served(redis, w1=scripted) as client:
        with pytest.raises(InferenceFailed, match="w1 said"):
            await client.complete(prompt(), model="run-a")

    assert len(scripted.bodies) == 1


@pytest.mark.asyncio
async def test_an_answer_that_is_no_completion_fails(redis):
    async with served(redis, w1=ScriptedWorker((200, {"hello": 1}))) as client:
        with pytest.raises(InferenceFailed, match="sent no chat completion"):
            await client.complete(prompt(), model="run-a")


@pytest.mark.asyncio
async def test_without_redis_the_workers_known_before_are_asked(redis, redis_url):
    async with served(redis, w1=ScriptedWorker()) as client:
        await client.complete(prompt(), model="run-a")
        await client._redis.aclose()
        client._redis = type(client._redis).from_url("unix:///nowhere.sock")
        client._looked_at = float("-inf")

        answer = await client.complete(prompt(), model="run-a")

    assert answer.finish_reason == "stop"
