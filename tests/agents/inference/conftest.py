"""A small real policy, and engines that serve it."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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
