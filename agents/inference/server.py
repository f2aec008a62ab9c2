"""The inference worker's process: ``python -m agents.inference.server``; no Django.

It serves ``app.InferenceApp`` with the built-in engine, tells Redis every second
that it is alive, and ends when it is told to or when its parent has died. Weights
come to it over HTTP (``sync``); it starts with none.
"""

import argparse
import asyncio
import contextlib
import ctypes
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

import torch
import uvicorn
from redis.asyncio import Redis
from redis.exceptions import RedisError
from transformers.utils.logging import disable_progress_bar

from agents.inference import registry
from agents.inference.app import InferenceApp
from agents.inference.engines.transformers import TransformersEngine

logger = logging.getLogger("agents.inference")

HOST: Final = "127.0.0.1"
DRAIN_S: Final = 20
"""How long requests in flight may take once the worker was told to end."""
SWITCH_INTERVAL_S: Final = 0.0005
"""Python's 5 ms would let the HTTP thread stall the engine's between two operations."""
PR_SET_PDEATHSIG: Final = 1


class _Server(uvicorn.Server):
    """Refuses new requests from the moment that it is told to end."""

    def __init__(self, config: uvicorn.Config, app: InferenceApp) -> None:
        super().__init__(config)
        self._inference_app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let requests in flight end."""
        self._inference_app.is_draining = True
        super().handle_exit(sig, frame)


class Heartbeat:
    """Keeps this worker's entry in Redis, whatever happens to Redis meanwhile."""

    def __init__(self, *, redis: "Redis", app: InferenceApp, url: str) -> None:
        self._redis = redis
        self._app = app
        self._url = url
        self._changed = asyncio.Event()

    def hurry(self) -> None:
        """Renew the entry at once: the models have changed."""
        self._changed.set()

    async def run(self) -> None:
        """Renew the entry until the worker drains, then remove it."""
        while not self._app.is_draining:
            await self._beat()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), registry.HEARTBEAT_S)
            self._changed.clear()
        await self.withdraw()

    async def withdraw(self) -> None:
        """Remove the entry."""
        try:
            await registry.withdraw(self._redis, self._app.state().worker_id)
        except (RedisError, OSError) as error:
            logger.warning("cannot withdraw from the registry", extra={"error": error})

    async def _beat(self) -> None:
        state = self._app.state()
        worker = registry.LiveWorker(
            **state.model_dump(exclude={"models"}),
            url=self._url,
            models={loaded.model: loaded.version for loaded in state.models},
            sha256s={loaded.model: loaded.sha256 for loaded in state.models},
        )
        try:
            await registry.announce(self._redis, worker)
        except (RedisError, OSError) as error:
            logger.warning("cannot reach the registry", extra={"error": str(error)})


def die_with_parent() -> None:
    """Ask the kernel to end this process when the one that started it dies.

    The kernel watches the *thread* that started the process: a supervisor must
    start its children from a thread that lives as long as itself.
    """
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        # It died in between, and the kernel will send nothing any more.
        sys.exit(1)


def _heard_already(number: int, frame: object) -> None:
    """Do nothing: the server has ended in good order by now."""


async def serve(options: argparse.Namespace, secret: str) -> None:
    """Run the worker until it is told to end."""
    engine = TransformersEngine(max_batch=options.max_batch)
    listener = socket.create_server((HOST, options.port), backlog=256)
    url = f"http://{HOST}:{listener.getsockname()[1]}"
    app = InferenceApp(
        engine=engine, secret=secret, worker_id=options.worker_id, pid=os.getpid()
    )
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        access_log=False,
        log_config=None,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=DRAIN_S,
    )
    # Once it has shut down, uvicorn raises the signal again for whoever handled it
    # before; by default that kills the process before it has left the registry.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _heard_already)
    async with Redis.from_url(options.redis_url) as redis:
        heartbeat = Heartbeat(redis=redis, app=app, url=url)
        app.on_models_changed = heartbeat.hurry
        beating = asyncio.create_task(heartbeat.run())
        logger.info("inference worker ready", extra={"url": url})
        try:
            await _Server(config, app).serve(sockets=[listener])
        finally:
            app.is_draining = True
            heartbeat.hurry()
            await beating
            engine.stop()


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m agents.inference.server")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--worker-id", required=True)
    parser.add_argument(
        "--secret-env",
        default="OCHE_INFERENCE_SECRET",
        help="environment variable that holds the bearer secret",
    )
    parser.add_argument("--redis-url", required=True, help="redis://… or unix://…")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--max-batch", type=int, default=32)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    options = parse_options(arguments)
    secret = os.environ.get(options.secret_env, "")
    if not secret:
        sys.exit(f"the environment variable {options.secret_env} holds no secret")
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    disable_progress_bar()  # A log is read by lines.
    die_with_parent()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    torch.set_num_threads(options.threads)
    asyncio.run(serve(options, secret))


if __name__ == "__main__":
    main()
