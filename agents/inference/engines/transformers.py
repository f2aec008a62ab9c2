"""The built-in engine: one thread that samples for all waiting requests together.

Requests join and leave a model's batch between two tokens. New weights wait until
that model's batch is empty, so one version samples the whole of an answer; requests
that come meanwhile wait and lose nothing.
"""

import logging
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor

from agents.errors import InferenceFailed
from agents.inference.engines.base import (
    EngineState,
    ModelNotLoaded,
    Sampled,
    SampleRequest,
)
from agents.inference.engines.batch import DecodeBatch, Row
from agents.inference.engines.resident import ResidentModel
from agents.inference.types import Weights

logger = logging.getLogger(__name__)

MAX_BATCH: Final = 32
MAX_MODELS: Final = 6
COMPANY_WAIT_S: Final = 0.003
"""How long a request waits for others when nothing else is being sampled: reading
two prompts together costs much less than one after the other."""


@dataclass(kw_only=True, slots=True)
class _Swap:
    """Weights that are read and wait for the batch to empty."""

    weights: Weights
    tensors: dict[str, Tensor]
    done: "Future[None]" = field(default_factory=Future)


@dataclass(kw_only=True, slots=True)
class _Lane:
    """One model with what is asked of it."""

    resident: ResidentModel
    batch: DecodeBatch
    waiting: deque[Row] = field(default_factory=deque)
    swap: _Swap | None = None
    used_at: float = field(default_factory=time.monotonic)

    @property
    def is_idle(self) -> bool:
        """Return whether there is nothing to do."""
        return not (self.batch or self.waiting or self.swap)


class TransformersEngine:
    """Samples with any image-text-to-text model of transformers, on the CPU."""

    def __init__(
        self, *, max_batch: int = MAX_BATCH, company_wait_s: float = COMPANY_WAIT_S
    ) -> None:
        self._max_batch = max_batch
        self._company_wait_s = company_wait_s
        self._lanes: dict[str, _Lane] = {}
        self._wake = threading.Condition()
        self._load_lock = threading.Lock()
        self._stopping = False
        self._in_flight = 0
        self._busy_since = 0.0
        self._busy_s = 0.0
        self._tokens_sampled = 0
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def submit(self, request: SampleRequest) -> "Future[Sampled]":
        """Queue a request; see ``Engine.submit``."""
        with self._wake:
            lane = self._lane(request.model)
        prompt = lane.resident.prepare(request)
        row = Row(
            request=request,
            prompt=prompt,
            future=Future(),
            on_done=self._count_out,
            submitted_at=time.monotonic(),
        )
        # Nobody may cancel it: the engine's thread sets the result unasked.
        row.future.set_running_or_notify_cancel()
        with self._wake:
            if self._stopping:
                raise InferenceFailed("the engine has been stopped")
            # Looked up again: the model may have been dropped while it was prepared.
            lane = self._lane(request.model)
            lane.waiting.append(row)
            lane.used_at = row.submitted_at
            self._count_in()
            self._wake.notify()
        return row.future

    def load(self, model: str, weights: Weights) -> None:
        """Take new weights; see ``Engine.load``. Blocks until they are in use."""
        with self._load_lock:
            lane = self._lanes.get(model)
            if lane is None:
                self._add(ResidentModel.load(model, weights))
            elif lane.resident.weights != weights:
                self._swap(lane, weights)

    def state(self) -> EngineState:
        """Return what the engine is doing now."""
        with self._wake:
            since = time.monotonic() - self._busy_since if self._in_flight else 0.0
            return EngineState(
                models={
                    name: lane.resident.weights for name, lane in self._lanes.items()
                },
                in_flight=self._in_flight,
                waiting=sum(len(lane.waiting) for lane in self._lanes.values()),
                tokens_sampled=self._tokens_sampled,
                busy_seconds=self._busy_s + since,
            )

    def stop(self) -> None:
        """End the thread; what is still waiting fails."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join(timeout=30)

    def _lane(self, model: str) -> _Lane:
        if model not in self._lanes:
            loaded = ", ".join(sorted(self._lanes)) or "none"
            raise ModelNotLoaded(f"{model} is not loaded here; loaded: {loaded}")
        return self._lanes[model]

    def _add(self, resident: ResidentModel) -> None:
        lane = _Lane(
            resident=resident, batch=DecodeBatch(resident, on_drawn=self._count_tokens)
        )
        with self._wake:
            self._lanes[resident.name] = lane
            idle = [name for name, lane in self._lanes.items() if lane.is_idle]
            idle.remove(resident.name)
            idle.sort(key=lambda name: self._lanes[name].used_at)
            for name in idle[: max(0, len(self._lanes) - MAX_MODELS)]:
                del self._lanes[name]
                logger.info("model dropped", extra={"model": name})

    def _swap(self, lane: _Lane, weights: Weights) -> None:
        swap = _Swap(weights=weights, tensors=lane.resident.read_update(weights))
        with self._wake:
            if self._stopping:
                raise InferenceFailed("the engine has been stopped")
            # A model may be dropped while its update is read; then it comes back.
            self._lanes[lane.resident.name] = lane
            lane.swap = swap
            self._wake.notify()
        swap.done.result()

    def _count_in(self) -> None:
        if self._in_flight == 0:
            self._busy_since = time.monotonic()
        self._in_flight += 1

    def _count_out(self) -> None:
        with self._wake:
            self._in_flight -= 1
            if self._in_flight == 0:
                self._busy_s += time.monotonic() - self._busy_since

    def _count_tokens(self, number: int) -> None:
        self._tokens_sampled += number

    def _run(self) -> None:
        with torch.inference_mode():
            while True:
                lanes = self._next_lanes()
                if not lanes:
                    break
                for lane in lanes:
                    self._turn(lane)
        self._fail_all(InferenceFailed("the engine has been stopped"))

    def _next_lanes(self) -> list[_Lane]:
        """Wait for work; return the models that have some, none when stopping."""
        with self._wake:
            while not self._stopping:
                lanes = [lane for lane in self._lanes.values() if not lane.is_idle]
                if not lanes:
                    self._wake.wait()
                elif (wait_s := self._company_wait(lanes)) > 0:
                    self._wake.wait(timeout=wait_s)
                else:
                    return lanes
        return []

    def _company_wait(self, lanes: list[_Lane]) -> float:
        """Return how long the first request should still wait for others."""
        if any(lane.batch or lane.swap for lane in lanes):
            return 0.0
        if any(len(lane.waiting) >= self._max_batch for lane in lanes):
            return 0.0
        oldest = min(lane.waiting[0].submitted_at for lane in lanes)
        return oldest + self._company_wait_s - time.monotonic()

    def _turn(self, lane: _Lane) -> None:
        """Do one thing for a model: swap its weights, admit requests or go on."""
        if lane.swap is not None and not lane.batch:
            self._finish_swap(lane, lane.swap)
        rows = [] if lane.swap is not None else self._take(lane)
        if not rows and not lane.batch:
            return
        try:
            if rows:
                lane.batch.admit(rows)
            else:
                lane.batch.step()
        except Exception as error:
            # The boundary of the thread: the askers get the error, the others go on.
            logger.exception("batch failed", extra={"model": lane.resident.name})
            failure = InferenceFailed(f"the model failed: {error}")
            lane.batch.abandon(failure)
            for row in rows:
                row.fail(failure)

    def _take(self, lane: _Lane) -> list[Row]:
        with self._wake:
            count = min(len(lane.waiting), self._max_batch - len(lane.batch))
            return [lane.waiting.popleft() for _ in range(count)]

    def _finish_swap(self, lane: _Lane, swap: _Swap) -> None:
        try:
            lane.resident.swap(swap.weights, swap.tensors)
        except Exception as error:
            # The boundary of the thread: whoever sent the weights gets the error. Half
            # of them may be in place, so the model must be loaded anew.
            logger.exception("swap failed", extra={"model": lane.resident.name})
            self._drop(lane, InferenceFailed(f"the model broke: {error}"))
            swap.done.set_exception(error)
            return
        with self._wake:
            lane.swap = None
            lane.used_at = time.monotonic()
        swap.done.set_result(None)

    def _drop(self, lane: _Lane, error: InferenceFailed) -> None:
        with self._wake:
            del self._lanes[lane.resident.name]
            rows, lane.swap = list(lane.waiting), None
            lane.waiting.clear()
        for row in rows:
            row.fail(error)

    def _fail_all(self, error: InferenceFailed) -> None:
        for lane in list(self._lanes.values()):
            swap = lane.swap
            lane.batch.abandon(error)
            self._drop(lane, error)
            if swap is not None:
                swap.done.set_exception(error)
