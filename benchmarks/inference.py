"""Measures an inference worker with an untrained ``oche-tiny``, over HTTP and without.

``python -m benchmarks.inference`` takes about 25 s. Every asker is a closed loop: it
sends its next request when it has its answer, as an environment's slot does.
"""

import argparse
import asyncio
import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import psutil
import torch
from PIL import Image
from redis.asyncio import Redis

from agents.inference.client import InferenceClient
from agents.inference.engines.base import SampleRequest
from agents.inference.engines.transformers import TransformersEngine
from agents.inference.registry import LiveWorker, live_workers
from agents.inference.sync import bring_up_to_date
from agents.inference.types import Weights
from agents.tiny import save_policy
from agents.types import Prompt

MODEL: Final = "policy-bench"
SECRET: Final = "bench"  # noqa: S105 - of a worker that lives for seconds
MAX_TOKENS: Final = 6
"""About what an answer of oche-tiny has."""
GROUP: Final = 8
"""Requests in a row that show the same picture, as the siblings of a group do."""


@dataclass(kw_only=True, slots=True)
class Counted:
    """What the askers got."""

    requests: int = 0
    tokens: int = 0


Ask = Callable[[Prompt], Awaitable[int]]
"""Returns how many tokens the answer had."""


def make_prompt(number: int, *, share: bool) -> Prompt:
    """Return a chat whose picture is new, or shared by eight prompts in a row."""
    generator = np.random.default_rng(number // GROUP if share else number)
    blocks = generator.integers(0, 256, (20, 20, 3), dtype=np.uint8)
    picture = Image.fromarray(blocks).resize((160, 160), Image.Resampling.NEAREST)
    text = 'Enter "Bob" into the 2nd input textbox and press Submit.'
    content = [{"type": "image"}, {"type": "text", "text": text}]
    return Prompt(messages=[{"role": "user", "content": content}], images=[picture])


async def load_up(
    ask: Ask, *, askers: int, seconds: float, think_s: float, share: bool
) -> tuple[Counted, float]:
    """Run closed loops for a while; return what was answered, and in how long."""
    counted = Counted()
    numbers = iter(range(1_000_000))
    started = time.monotonic()

    async def loop() -> None:
        while time.monotonic() - started < seconds:
            tokens = await ask(make_prompt(next(numbers), share=share))
            counted.tokens += tokens
            counted.requests += 1
            await asyncio.sleep(think_s)

    await asyncio.gather(*(loop() for _ in range(askers)))
    return counted, time.monotonic() - started


def report(
    name: str, askers: int, counted: Counted, took_s: float, cpu_s: float
) -> None:
    """Write one line of the table."""
    sys.stdout.write(
        f"{name:24s} {askers:3d} askers {counted.requests / took_s:7.0f} requests/s "
        f"{counted.tokens / took_s:7.0f} tokens/s "
        f"{1000 * cpu_s / counted.requests:6.2f} CPU ms/request\n"
    )
    sys.stdout.flush()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def measure(
    name: str, ask: Ask, pid: int, options: argparse.Namespace, *, share: bool
) -> None:
    """Measure one way of asking at each concurrency."""
    for askers in options.askers:
        before = cpu_seconds(pid)
        counted, took_s = await load_up(
            ask,
            askers=askers,
            seconds=options.seconds,
            think_s=options.think_ms / 1000,
            share=share,
        )
        report(name, askers, counted, took_s, cpu_seconds(pid) - before)


async def measure_engine(weights: Weights, options: argparse.Namespace) -> None:
    """Measure the engine alone, within this process."""
    engine = TransformersEngine()
    engine.load(MODEL, weights)

    async def ask(prompt: Prompt) -> int:
        buffer = io.BytesIO()
        prompt.images[0].save(buffer, "PNG", compress_level=1)
        request = SampleRequest(
            model=MODEL,
            messages=prompt.messages,
            images=[buffer.getvalue()],
            max_tokens=MAX_TOKENS,
        )
        sampled = await asyncio.wrap_future(engine.submit(request))
        return len(sampled.token_ids)

    await measure("engine", ask, os.getpid(), options, share=False)
    await measure("engine, shared screens", ask, os.getpid(), options, share=True)
    engine.stop()


async def measure_worker(
    weights: Weights, folder: Path, options: argparse.Namespace
) -> None:
    """Measure a worker process over HTTP."""
    with redis_server(folder) as redis_url:
        async with (
            worker(redis_url) as live,
            InferenceClient(redis_url, SECRET) as client,
        ):
            await bring_up_to_date([live], {MODEL: weights}, secret=SECRET)

            async def ask(prompt: Prompt) -> int:
                answer = await client.complete(
                    prompt, model=MODEL, max_tokens=MAX_TOKENS
                )
                return len(answer.response_token_ids)

            await ask(make_prompt(0, share=False))
            await measure("worker", ask, live.pid, options, share=False)
            await measure("worker, shared screens", ask, live.pid, options, share=True)


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run a Redis of our own."""
    path = folder / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(path), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not path.exists():
            time.sleep(0.02)
        try:
            yield f"unix://{path}?db=0"
        finally:
            process.terminate()


@contextlib.asynccontextmanager
async def worker(redis_url: str) -> AsyncIterator[LiveWorker]:
    """Run a worker; yields its entry in the registry."""
    command = [sys.executable, "-m", "agents.inference.server"]
    command += ["--worker-id", "bench", "--redis-url", redis_url]
    environment = os.environ | {"OCHE_INFERENCE_SECRET": SECRET}
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        async with Redis.from_url(redis_url) as redis:
            while not (found := await live_workers(redis)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield found[0]
    finally:
        process.terminate()
        await process.wait()


async def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inference")
    parser.add_argument("--askers", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument("--seconds", type=float, default=1.5, help="for each line")
    parser.add_argument("--think-ms", type=float, default=0.0, help="between requests")
    parser.add_argument("--only", choices=["engine", "worker"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="oche-bench-") as name:
        folder = Path(name)
        save_policy(folder / "policy")
        file = folder / "policy" / "model.safetensors"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        weights = Weights(path=str(folder / "policy"), sha256=digest, version=0)
        if options.only != "worker":
            await measure_engine(weights, options)
        if options.only != "engine":
            await measure_worker(weights, folder, options)


if __name__ == "__main__":
    asyncio.run(main())
