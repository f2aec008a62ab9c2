"""Asks inference workers: chooses one, and outlives the death of any of them.

One client belongs to one event loop. Requests that cannot be answered now, since a
worker died, drains or has not got the model yet, wait and are asked again.
"""

import asyncio
import logging
import time
from collections import Counter
from typing import Final

import httpx
import numpy as np
from pydantic import ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from agents.errors import InferenceFailed
from agents.inference import registry
from agents.inference.protocol import (
    ChatRequest,
    ChatResponse,
    ErrorResponse,
    messages_to_wire,
)
from agents.inference.registry import LiveWorker
from agents.types import Answer, Prompt
from studio.common.closing import AsyncClosing

logger = logging.getLogger(__name__)

DEADLINE_S: Final = 120.0
REGISTRY_TTL_S: Final = 0.5
"""How long a look at the registry is good for."""
FIRST_DELAY_S: Final = 0.1
MAX_DELAY_S: Final = 1.0


class _Busy(Exception):
    """This worker cannot answer now; another one, or later, may."""


class InferenceClient(AsyncClosing):
    """Sends each prompt to the worker with the fewest requests in flight."""

    def __init__(self, redis_url: str, secret: str) -> None:
        # Redis may come later than its clients, and may restart under them.
        self._redis = Redis.from_url(redis_url, socket_connect_timeout=2)
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {secret}"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=256),
            trust_env=False,
        )
        self._workers: list[LiveWorker] = []
        self._looked_at = float("-inf")
        self._look_lock = asyncio.Lock()
        self._in_flight: Counter[str] = Counter()
        self._rests_until: dict[str, float] = {}

    async def complete(
        self,
        prompt: Prompt,
        *,
        model: str,
        temperature: float = 1.0,
        max_tokens: int = 500,
        top_p: float = 1.0,
        seed: int | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> Answer:
        """Return a model's answer to a prompt.

        Raises:
            InferenceFailed: If no worker answered before the deadline, or the request
                itself is wrong; the message names the last cause.
        """
        body = ChatRequest(
            model=model,
            messages=messages_to_wire(prompt),
            temperature=temperature,
            max_tokens=max_tokens,
            top_p=top_p,
            seed=seed,
        ).model_dump_json()
        deadline = time.monotonic() + deadline_s
        cause, delay_s = "", FIRST_DELAY_S
        while (left_s := deadline - time.monotonic()) > 0:
            worker = self._choose(await self._look(), model)
            try:
                if worker is None:
                    raise _Busy(self._why_nobody(model))
                return await self._ask(worker, body, timeout_s=left_s)
            except _Busy as busy:
                cause = str(busy) or cause
                if worker is not None:
                    self._rests_until[worker.url] = time.monotonic() + delay_s
                    self._looked_at = float("-inf")
                    if self._choose(self._workers, model) is not None:
                        continue
            await asyncio.sleep(min(delay_s, max(0.0, deadline - time.monotonic())))
            delay_s = min(MAX_DELAY_S, 2 * delay_s)
        raise InferenceFailed(
            f"no answer from {model} within {deadline_s:g} s: {cause}"
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()
        await self._redis.aclose()

    async def _look(self) -> list[LiveWorker]:
        """Return the workers; one look serves all requests of half a second."""
        async with self._look_lock:
            if time.monotonic() - self._looked_at > REGISTRY_TTL_S:
                try:
                    self._workers = await registry.live_workers(self._redis)
                except (RedisError, OSError) as error:
                    # The workers that were there are most likely there still.
                    logger.warning("cannot read the registry: %s", error)
                self._looked_at = time.monotonic()
        return self._workers

    def _choose(self, workers: list[LiveWorker], model: str) -> LiveWorker | None:
        now = time.monotonic()
        able = [
            worker
            for worker in workers
            if model in worker.models and self._rests_until.get(worker.url, 0.0) <= now
        ]
        return min(
            able,
            key=lambda worker: self._in_flight[worker.url] + worker.in_flight,
            default=None,
        )

    def _why_nobody(self, model: str) -> str:
        if not self._workers:
            return "no inference worker is alive"
        if not any(model in worker.models for worker in self._workers):
            return f"none of {len(self._workers)} inference workers has the model"
        return ""  # They rest, having failed: what they said is the cause.

    async def _ask(self, worker: LiveWorker, body: str, *, timeout_s: float) -> Answer:
        self._in_flight[worker.url] += 1
        try:
            response = await self._http.post(
                f"{worker.url}/v1/chat/completions",
                content=body,
                headers={"Content-Type": "application/json"},
                timeout=httpx.Timeout(timeout_s, connect=min(2.0, timeout_s)),
            )
        except httpx.TransportError as error:
            raise _Busy(
                f"inference worker {worker.worker_id} is unreachable: {error!r}"
            ) from error
        finally:
            self._in_flight[worker.url] -= 1
        return _read_answer(worker, response)


def _read_answer(worker: LiveWorker, response: httpx.Response) -> Answer:
    if response.status_code != httpx.codes.OK:
        code, detail = _read_error(response)
        said = f"inference worker {worker.worker_id} said {code}: {detail}"
        if code == "model_not_loaded" or response.is_server_error:
            raise _Busy(said)
        raise InferenceFailed(said)
    try:
        return _to_answer(ChatResponse.model_validate_json(response.content))
    except ValidationError as error:
        raise InferenceFailed(
            f"inference worker {worker.worker_id} sent no chat completion: {error}"
        ) from error


def _read_error(response: httpx.Response) -> tuple[str, str]:
    try:
        error = ErrorResponse.model_validate_json(response.content).error
    except ValidationError:
        return f"HTTP {response.status_code}", response.text[:200]
    return error.code, error.detail


def _to_answer(response: ChatResponse) -> Answer:
    choice = response.choices[0]
    tokens = choice.logprobs.content
    return Answer(
        text=choice.message.content,
        prompt_token_ids=np.asarray(response.prompt_token_ids, dtype=np.int32),
        response_token_ids=np.asarray(choice.token_ids, dtype=np.int32),
        logprobs=np.asarray([token.logprob for token in tokens], dtype=np.float32),
        entropies=np.asarray(response.oche.entropies, dtype=np.float32),
        versions=np.asarray(response.oche.versions, dtype=np.int32),
        finish_reason=choice.finish_reason,
        timings_s={"queue": response.oche.queue_s, "model": response.oche.model_s},
        token_texts=tuple(token.token for token in tokens),
    )
