"""Who works right now: slots and inference workers, as they last announced themselves."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.conf import settings
from redis.exceptions import RedisError

from agents.inference.registry import LiveWorker, live_workers_sync
from environments.frames import SlotState
from environments.selectors import cluster_now as environments_now
from environments.workers import Cluster as Environments
from environments.workers import SlotEntry
from studio.common.redis import Redis, connect
from studio.common.registry import RegistryUnreadable
from training.services.live import frame_store

logger = logging.getLogger(__name__)

LETTERS: Final = {
    "acting": ("B", "busy", "busy"),
    "model": ("W", "wait", "waiting for the model"),
    "reset": ("R", "wait", "resetting"),
    "evaluating": ("E", "wait", "being judged"),
    "idle": ("I", "wait", "idle"),
    "building": ("S", "wait", "being set up"),
    "lost": ("×", "fault", "lost"),
}
"""State of a slot -> letter, look, words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One slot or worker, as a square with a letter."""

    letter: str
    look: str
    title: str
    state: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """Slots and workers at one moment."""

    is_reachable: bool
    """Whether Redis could be asked at all."""
    environments: Environments = field(default_factory=Environments)
    boards: Sequence[SlotState] = ()
    """Of the slots that play, with what they show."""
    workers: Sequence[LiveWorker] = ()

    @property
    def slots(self) -> list[Unit]:
        """Return all slots that there are, those of lost workers too."""
        return [
            slot_unit(slot, is_lost=state == "lost")
            for seen, state in self.environments.workers
            if state != "ended"
            for slot in seen.entry.slots
        ]

    @property
    def inference(self) -> list[Unit]:
        """Return all inference workers."""
        return [_worker(worker, None) for worker in self.workers]

    @property
    def slots_sentence(self) -> str:
        """Return what the slots do, in words: ``5 busy, 2 resetting``."""
        num = len(self.environments.unreadable)
        unreadable = [f"{num} worker{'s'[: num > 1]} cannot be read"] if num else []
        known = counted(self.slots) or "no slot has announced itself"
        return ", ".join([known, *unreadable])

    @property
    def inference_sentence(self) -> str:
        """Return what the inference workers do, in words."""
        return counted(self.inference) or "no worker has announced itself"

    def slots_of(self, run_id: UUID) -> list[Unit]:
        """Return the slots that play an episode of a run."""
        return [
            _unit(one.slot, one.state)
            for one in self.boards
            if one.run_id == str(run_id)
        ]

    def workers_of(self, run_id: UUID) -> list[Unit]:
        """Return the workers that serve a run's moving policy."""
        model = f"run-{run_id}"
        return [_worker(one, model) for one in self.workers if model in one.models]


def cluster_now() -> Cluster:
    """Ask Redis; a page without an answer says so instead of failing."""
    try:
        return Cluster(
            is_reachable=True,
            environments=environments_now(),
            boards=frame_store().slots(),
            workers=live_workers_sync(_redis()),
        )
    except (RedisError, RegistryUnreadable, OSError) as error:
        logger.warning("cluster not read: %s", error)
        return Cluster(is_reachable=False)


def counted(units: Sequence[Unit]) -> str:
    """Return how many units are in each state, most first."""
    states = Counter(unit.state for unit in units)
    return ", ".join(f"{number} {state}" for state, number in states.most_common())


@lru_cache(maxsize=1)
def _redis() -> Redis:
    return connect(settings.REDIS_URL)


def slot_unit(slot: SlotEntry, *, is_lost: bool = False) -> Unit:
    """Return a slot as a square."""
    return _unit(slot.slot, "lost" if is_lost else slot.state)


def _unit(slot: str, state: str) -> Unit:
    letter, look, words = LETTERS[state]
    return Unit(letter=letter, look=look, state=words, title=f"Slot {slot}: {words}")


def _worker(worker: LiveWorker, model: str | None) -> Unit:
    is_busy = worker.in_flight > 0
    version = f", v{worker.models[model]}" if model else ""
    state = "busy" if is_busy else "idle"
    return Unit(
        letter="B" if is_busy else "I",
        look="busy" if is_busy else "wait",
        state=state,
        title=f"{worker.worker_id}: {state}, {worker.in_flight} in flight{version}",
    )
