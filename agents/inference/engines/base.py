"""The contract between an inference worker's server and the engine inside it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from agents.errors import AgentsError
from agents.inference.types import Weights
from agents.types import Message


class ModelNotLoaded(AgentsError):
    """The worker does not hold a model of the name."""

    code = "model_not_loaded"


class BadPrompt(AgentsError):
    """A chat that the model cannot take; the message says why."""

    code = "bad_prompt"


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleRequest:
    """One answer to sample."""

    model: str
    messages: Sequence[Message]
    images: Sequence[bytes]
    """Picture files (PNG, WebP, …), in the order of the chat's image parts."""
    temperature: float = 1.0
    """0 takes the likeliest token."""
    top_p: float = 1.0
    """Share of the probability that may be sampled."""
    max_tokens: int = 500
    seed: int | None = None
    """The same seed and weights give the same answer; None is never the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampled:
    """One sampled answer; lists have one entry per response token."""

    text: str
    prompt_token_ids: list[int]
    token_ids: list[int]
    token_texts: list[str]
    logprobs: list[float]
    """Under the sampling distribution: structural tokens banned, temperature and
    top-p applied. Greedy answers report temperature 1, since certainty says nothing."""
    entropies: list[float]
    """Nats, of the same distribution."""
    versions: list[int]
    finish_reason: str
    """``stop`` or ``length``."""
    queue_s: float
    model_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineState:
    """What an engine is doing."""

    models: Mapping[str, Weights]
    """By the names that they are served by."""
    in_flight: int
    """Requests submitted and not answered."""
    waiting: int
    """Of these, those not in a batch yet."""
    tokens_sampled: int
    busy_seconds: float
    """Time with at least one request in flight."""


class Engine(Protocol):
    """Holds models and samples answers; safe to call from any thread."""

    def submit(self, request: SampleRequest) -> "Future[Sampled]":
        """Queue a request.

        Raises:
            ModelNotLoaded: If the model is not held.
            BadPrompt: If the chat does not fit the model.
        """
        ...

    def load(self, model: str, weights: Weights) -> None:
        """Load a model, or give it new weights between two batches.

        No request is lost by it.

        Raises:
            PolicyInvalid: If the folder does not fit or is not the announced one.
        """
        ...

    def state(self) -> EngineState:
        """Return what the engine is doing now."""
        ...

    def stop(self) -> None:
        """End the engine; what is still waiting fails."""
        ...
