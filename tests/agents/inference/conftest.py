"""A small real policy, and engines that serve it."""

import hashlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from agents.inference.engines.transformers import TransformersEngine
from agents.inference.types import Weights
from agents.processing import PolicyProcessor
from agents.tiny import save_policy


@pytest.fixture(scope="session")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two untrained policies, ``0`` and ``1``, unlike in weights."""
    root = tmp_path_factory.mktemp("policies")
    for seed in (0, 1):
        save_policy(root / str(seed), seed=seed)
    return root


@pytest.fixture(scope="session")
def weights_of(policies: Path) -> Callable[..., Weights]:
    """Return a function that describes one of the two policies."""

    def describe(name: str, *, version: int = 0) -> Weights:
        folder = policies / name
        digest = hashlib.sha256((folder / "model.safetensors").read_bytes())
        return Weights(path=str(folder), sha256=digest.hexdigest(), version=version)

    return describe


@pytest.fixture(scope="session")
def processor(policies: Path) -> PolicyProcessor:
    """Return what encodes chats for both policies."""
    return PolicyProcessor.load(policies / "0")


@pytest.fixture
def engine(weights_of: Callable[..., Weights]) -> Iterator[TransformersEngine]:
    """Return an engine that has policy 0 as ``run-a``."""
    engine = TransformersEngine()
    engine.load("run-a", weights_of("0"))
    yield engine
    engine.stop()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a Redis of the tests' own."""
    path = tmp_path_factory.mktemp("redis") / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(path), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 20
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield f"unix://{path}?db=0"
        process.terminate()


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    """Return a connection to an empty Redis."""
    with Redis.from_url(redis_url) as connection:
        connection.flushall()
        yield connection
