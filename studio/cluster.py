"""Everything that works for the studio, as its page and its API show it."""

import contextlib
import logging
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection as database
from redis.exceptions import RedisError

from agents.inference.registry import LiveWorker, live_workers_sync
from environments.events import Happened
from environments.selectors import cluster_visible_to, events_visible_to
from environments.workers import Cluster, EnvironmentWorker
from studio.common.redis import Redis, connect
from studio.common.registry import Reading, Registry, RegistryUnreadable, Seen
from studio.common.usage import MachineUsage
from studio.common.version import code_version
from training.models import Run
from training.processes import ProcessEntry, process_registry
from training.selectors import runs_visible_to
from training.states import RunStatus

logger = logging.getLogger(__name__)

NUM_EVENTS: Final = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """A machine as the last of its processes described it."""

    host: str
    usage: MachineUsage
    names: Sequence[str]
    """Of what runs there."""
    has_lost: bool
    """Whether something that ran there is lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Of what every page stands on."""

    database: str
    database_bytes: int | None
    redis_bytes: int | None
    redis_ms: float | None
    files_bytes: int
    files_total_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Everything:
    """The cluster at one moment."""

    error: str = ""
    """Why the registry could not be read; the rest is then empty but not known so."""
    environments: Cluster = field(default_factory=Cluster)
    processes: Reading[ProcessEntry] = field(
        default_factory=lambda: Reading(seen=(), unreadable=())
    )
    inference: Sequence[LiveWorker] = ()
    events: Sequence[Happened] = ()
    training: Sequence[Run] = ()
    """The user's runs that trainers work on."""
    facts: Facts | None = None
    code: str = field(default_factory=code_version)
    """Which code the pages run."""

    @property
    def managers(self) -> list[Seen[ProcessEntry]]:
        """Return the managers, silent ones included."""
        return [one for one in newest(self.processes) if one.entry.kind == "manager"]

    @property
    def trainers(self) -> list[Seen[ProcessEntry]]:
        """Return the trainers, silent ones included."""
        return [one for one in newest(self.processes) if one.entry.kind == "trainer"]

    @property
    def machines(self) -> list[Machine]:
        """Return the machines that anything was heard of lately, by name."""
        return machines_of(
            [seen for seen, _ in self.environments.workers], newest(self.processes)
        )

    @property
    def num_slots(self) -> int:
        """Return all slots, those of lost and drained workers too."""
        return sum(
            len(seen.entry.slots)
            for seen, state in self.environments.workers
            if state != "ended"
        )

    @property
    def num_episodes_per_min(self) -> int:
        """Return how many episodes ended within the last minute."""
        present = self.environments.present
        return sum(seen.entry.num_episodes_last_min for seen in present)

    @property
    def num_orphans(self) -> int:
        """Return the processes of dead workers that the present ones ended."""
        return sum(seen.entry.num_orphans for seen in self.environments.present)


def everything(user: User) -> Everything:
    """Ask Redis and the database; what does not answer is said so."""
    try:
        return Everything(
            environments=cluster_visible_to(user),
            processes=_processes().read(),
            inference=live_workers_sync(_redis()),
            events=events_visible_to(user, num=NUM_EVENTS),
            training=list(runs_visible_to(user).filter(status=RunStatus.RUNNING)[:20]),
            facts=_facts(),
        )
    except (RegistryUnreadable, RedisError, OSError) as error:
        logger.warning("cluster not read: %s", error)
        return Everything(error=str(error), facts=_facts())


def newest(reading: Reading[ProcessEntry]) -> list[Seen[ProcessEntry]]:
    """Return the present life of each process; those that said goodbye left out."""
    lives = {one.name: one for one in reading.seen}
    return [one for one in lives.values() if not one.entry.has_ended]


def machines_of(
    workers: Iterable[Seen[EnvironmentWorker]],
    processes: Iterable[Seen[ProcessEntry]],
) -> list[Machine]:
    """Return the machines, each as whoever spoke last described it."""
    seen: list[Seen[EnvironmentWorker] | Seen[ProcessEntry]] = [*workers, *processes]
    machines = []
    for host in sorted({one.entry.host for one in seen}):
        there = [one for one in seen if one.entry.host == host]
        latest = min(there, key=lambda one: one.heard_s)
        if latest.entry.machine is not None and latest.is_fresh:
            machines.append(
                Machine(
                    host=host,
                    usage=latest.entry.machine,
                    names=sorted({one.name.partition("@")[0] for one in there}),
                    has_lost=any(not one.is_fresh for one in there),
                )
            )
    return machines


def web_host() -> str:
    """Return the machine that this page was made on."""
    return socket.gethostname()


def _facts() -> Facts:
    files = psutil.disk_usage(str(settings.OCHE_HOME))
    redis_bytes, redis_ms = _redis_facts()
    return Facts(
        database={"sqlite": "SQLite", "postgresql": "PostgreSQL"}[database.vendor],
        database_bytes=_database_bytes(),
        redis_bytes=redis_bytes,
        redis_ms=redis_ms,
        files_bytes=files.used,
        files_total_bytes=files.total,
    )


def _redis_facts() -> tuple[int | None, float | None]:
    try:
        began = time.perf_counter()
        used = int(_redis().info("memory")["used_memory"])
        return used, 1000 * (time.perf_counter() - began)
    except (RedisError, OSError, KeyError):
        return None, None


def _database_bytes() -> int | None:
    if database.vendor == "sqlite":
        path = Path(str(database.settings_dict["NAME"]))
        parts = [path, path.with_name(path.name + "-wal")]
        with contextlib.suppress(OSError):
            return sum(part.stat().st_size for part in parts if part.exists())
        return None
    with database.cursor() as cursor:
        cursor.execute("select pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


@lru_cache(maxsize=1)
def _redis() -> Redis:
    return connect(settings.REDIS_URL)


@lru_cache(maxsize=1)
def _processes() -> Registry[ProcessEntry]:
    return process_registry(_redis())
