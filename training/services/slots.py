"""This process's slots, its connection to the models, and the life of its leases.

Started by the first trajectory that comes; one event loop, in the pool's thread.
"""

import asyncio
import logging
import os
import socket
import threading
import time
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection

from agents.inference.client import InferenceClient
from environments.pool import SlotPool
from training.services.trajectories import trajectories_extend

logger = logging.getLogger(__name__)

HEARTBEAT_S: Final = 2.0
CLOSE_S: Final = 4.0
"""How long episodes that are broken off may take to clear away."""


class RolloutWorker:
    """What all rollouts of a process share."""

    def __init__(self, *, num_slots: int) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}"
        self.pool = SlotPool(worker=self.name, num_slots=num_slots)
        self._client: InferenceClient | None = None
        self._playing: dict[UUID, asyncio.Task[None]] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = threading.Event()
        self._heart = threading.Thread(
            target=self._beat, name="trajectory leases", daemon=True
        )
        self._heart.start()

    def client(self) -> InferenceClient:
        """Return the process's client; call on the pool's loop only."""
        if self._client is None:
            self._client = InferenceClient(
                settings.REDIS_URL, settings.INFERENCE_SECRET
            )
        return self._client

    def begin(self, trajectory_id: UUID) -> None:
        """Keep the lease of what the running coroutine plays; call it there."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a trajectory is played by a task of the pool's loop")
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._playing[trajectory_id] = task

    def end(self, trajectory_id: UUID) -> None:
        """Let the lease of a trajectory go."""
        with self._lock:
            self._playing.pop(trajectory_id, None)

    def close(self) -> None:
        """Break off what is played and free everything; may be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        with self._lock:
            playing = list(self._playing)
        self._cancel(playing)
        # Whoever waits for an episode would wait for ever on a loop that has stopped.
        deadline = time.monotonic() + CLOSE_S
        while self._playing and time.monotonic() < deadline:
            time.sleep(0.02)
        self.pool.close()

    def _beat(self) -> None:
        try:
            while not self._closing.wait(HEARTBEAT_S):
                try:
                    self._extend()
                except DatabaseError as error:
                    logger.warning("leases not extended: %s", error)
        finally:
            connection.close()

    def _extend(self) -> None:
        with self._lock:
            playing = set(self._playing)
        if playing:
            # What was cancelled, or given up for lost, is not worth another step.
            self._cancel(playing - trajectories_extend(ids=playing))

    def _cancel(self, ids: "set[UUID] | list[UUID]") -> None:
        with self._lock:
            tasks = [self._playing[i] for i in ids if i in self._playing]
        for task in tasks:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(task.cancel)


_started: list[RolloutWorker] = []
_start_lock = threading.Lock()
_is_ending = threading.Event()


def is_ending() -> bool:
    """Return whether this process shall begin no more trajectories."""
    return _is_ending.is_set()


def rollout_worker() -> RolloutWorker:
    """Return this process's worker, started on the first call."""
    with _start_lock:
        if not _started:
            _started.append(RolloutWorker(num_slots=settings.NUM_SLOTS))
        return _started[0]


def rollout_worker_close() -> None:
    """End this process's worker, if it was started; it begins nothing any more."""
    _is_ending.set()
    with _start_lock:
        workers = list(_started)
        _started.clear()
    for worker in workers:
        worker.close()
