"""Who plays episodes: what each environment worker says of itself every two seconds.

The registry itself is ``studio.common.registry``; here is what an entry holds and what
follows from it. Knows no Django.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from studio.common.redis import Redis
from studio.common.registry import LOST_AFTER_S, Reading, Registry, Seen
from studio.common.usage import MachineUsage

PREFIX: Final = "oche:environments:"

SlotActivity = Literal["idle", "building", "reset", "model", "acting", "evaluating"]
"""``building``: its world is made, or made anew. ``model``: it waits for an answer."""
Intake = Literal["serving", "draining", "drained", "restarting", "ending", "ended"]
"""What a worker says of itself. ``draining`` still plays, ``drained`` does not."""
WorkerState = Literal[Intake, "lost", "doubled"]
"""What is known of a worker. ``doubled``: another one has taken its name."""


ENDED_SHOWN_S: Final = 60.0
"""How long a worker that said goodbye is shown: its successor takes seconds."""


class SlotEntry(BaseModel):
    """What one slot does."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    slot: str
    """Id, unique among all workers."""
    state: SlotActivity = "idle"
    for_s: float = 0.0
    """How long it was in this step, or idle, when that was said."""
    backend: str = ""
    """Of the world that it holds; empty without one."""
    task: str = ""
    """``<backend>/<name>``, while an episode is played."""
    run_id: str = ""
    evaluation_id: str = ""
    trajectory_id: str = ""
    owner_id: int | None = None
    """Whose work it is: nobody else is told what that is."""
    step: int = 0
    max_steps: int = 0
    num_episodes: int = 0
    """Played here since the worker started, faulted ones included."""
    num_restarts: int = 0
    """How often its world was built anew after a fault."""


class EnvironmentWorker(BaseModel):
    """A worker as it last described itself."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    host: str
    pid: int
    queue: str
    code: str
    """Which code it runs: ``studio.common.version``."""
    intake: Intake = "serving"
    up_s: float
    """Since its start."""
    is_supervised: bool
    """Whether somebody starts it again when it ends."""
    slots: tuple[SlotEntry, ...] = ()
    own_bytes: int = 0
    browser_bytes: int = 0
    """Of the browsers, and of whatever else it started."""
    cpu_percent: float = 0.0
    """100 is one processor."""
    num_episodes_last_min: int = 0
    num_restarts: int = 0
    """Worlds and browsers built anew after a fault, since its start."""
    num_orphans: int = 0
    """Browsers of workers that were killed, which it found and ended at its start."""
    last_error: str = ""
    last_error_s: float = 0.0
    """How long ago that was when it was said."""
    machine: MachineUsage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """All environment workers at one moment."""

    workers: tuple[tuple[Seen[EnvironmentWorker], WorkerState], ...] = ()
    unreadable: tuple[str, ...] = ()
    """Entries that could not be understood: somebody is there, but not who."""

    @property
    def present(self) -> list[Seen[EnvironmentWorker]]:
        """Return the workers that are heard of."""
        return [
            seen for seen, state in self.workers if seen.is_fresh and state != "ended"
        ]

    @property
    def lost(self) -> list[Seen[EnvironmentWorker]]:
        """Return the workers that fell silent without a goodbye."""
        return [seen for seen, state in self.workers if state == "lost"]

    @property
    def num_slots(self) -> int:
        """Return how many episodes can be played at a time, drained workers' left out."""
        return sum(
            len(seen.entry.slots)
            for seen in self.present
            if seen.entry.intake == "serving"
        )


def worker_registry(redis: Redis) -> Registry[EnvironmentWorker]:
    """Return the registry of environment workers."""
    return Registry(redis, prefix=PREFIX, model=EnvironmentWorker)


def cluster_of(reading: Reading[EnvironmentWorker]) -> Cluster:
    """Return who is there, of each name the present life.

    An earlier life that is silent was replaced; one that still speaks is shown, since
    two processes then go by one name.
    """
    newest = {seen.name: seen for seen in reading.seen}
    return Cluster(
        workers=tuple(_with_states(reading.seen, newest)),
        unreadable=reading.unreadable,
    )


def seconds_in_step(seen: Seen[EnvironmentWorker], slot: SlotEntry) -> float:
    """Return for how long a slot has been in its step when its worker last spoke.

    Of a silent worker, until now: nothing has moved since. Both parts are durations by
    one clock each; no clock is compared with another.
    """
    return slot.for_s if seen.is_fresh else slot.for_s + seen.heard_s


def _with_states(
    seen: Iterable[Seen[EnvironmentWorker]],
    newest: dict[str, Seen[EnvironmentWorker]],
) -> Iterable[tuple[Seen[EnvironmentWorker], WorkerState]]:
    for one in seen:
        has_ended = one.entry.intake == "ended"
        last = newest[one.name]
        if one is last:
            if not has_ended or one.heard_s <= ENDED_SHOWN_S:
                yield one, _state_of(one)
        elif not has_ended and one.heard_s < min(LOST_AFTER_S, _age_s(last)):
            # It has spoken since its successor began: one that was killed has not.
            yield one, "doubled"


def _age_s(seen: Seen[EnvironmentWorker]) -> float:
    return seen.entry.up_s + seen.heard_s


def _state_of(seen: Seen[EnvironmentWorker]) -> WorkerState:
    # Who has said goodbye is not missed.
    if seen.is_fresh or seen.entry.intake == "ended":
        return seen.entry.intake
    return "lost"
