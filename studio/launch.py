"""A whole studio on this machine, from its settings: prepared, started, supervised."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

import redis
from django.conf import settings
from django.core.management import call_command

from agents.inference.registry import live_workers_sync
from environments.services.tasks import tasks_sync
from studio.accounts import administrator_ensure, sign_in_link_create
from studio.common.process import kill_marked
from studio.common.redis import connect
from studio.supervisor.fleet import MARK, Plan, fleet
from studio.supervisor.lock import hold_home
from studio.supervisor.log import MergedLog
from studio.supervisor.ports import HOST, choose_port
from studio.supervisor.supervisor import Supervisor

LOG_FILE = "studio.log"

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Studio:
    """A studio that is about to run."""

    address: str
    """Where its pages are, without a slash at the end."""
    supervisor: Supervisor

    def sign_in_address(self) -> str:
        """Return a link that signs the first administrator in, once."""
        link = sign_in_link_create(user=administrator_ensure())
        return self.address + link


@contextmanager
def open_studio(
    *, port: int | None, terminal: TextIO | None, say: Say
) -> Iterator[Studio]:
    """Take the studio's folder, clear it of an earlier life's rest, prepare the database.

    Args:
        port: Where pages shall be served; None for the first free one.
        terminal: Where the merged log is shown as well.
        say: Told each stage that takes time, in words for people.

    Raises:
        HomeIsTaken: If a studio runs in this folder already.
        PortTaken: If something else listens on the port.
        NoRedisServer: If there is no Redis server to start.
    """
    with hold_home(settings.OCHE_HOME) as note:
        mark = (MARK, str(settings.OCHE_HOME))
        if num_left := kill_marked(*mark):
            say(f"Ended {num_left} processes that an earlier studio left behind.")
        chosen = choose_port(port)
        address = f"http://{HOST}:{chosen}"
        note.write_text(f"{note.read_text()}, {address}/")
        specs = fleet(_plan(chosen))
        prepare_database(say=say)
        log = MergedLog(settings.OCHE_HOME / "logs" / LOG_FILE, terminal)
        try:
            yield Studio(address=address, supervisor=Supervisor(specs, log, mark=mark))
        finally:
            kill_marked(*mark)
            log.close()


def prepare_database(*, say: Say) -> None:
    """Bring the tables and the list of tasks up to date."""
    started = time.monotonic()
    call_command("migrate", verbosity=0, interactive=False)
    tasks_sync()
    say(f"The database is up to date ({time.monotonic() - started:.1f} s).")


def _plan(port: int) -> Plan:
    return Plan(
        home=settings.OCHE_HOME,
        repository=settings.BASE_DIR,
        port=port,
        redis_url=settings.REDIS_URL,
        is_redis_embedded=settings.IS_REDIS_EMBEDDED,
        num_slots=settings.NUM_SLOTS,
        num_trainer_threads=settings.NUM_TRAINER_THREADS,
        is_inference_ready=_is_inference_ready,
    )


def _is_inference_ready(pid: int) -> bool:
    try:
        with connect(settings.REDIS_URL) as connection:
            return any(one.pid == pid for one in live_workers_sync(connection))
    except (redis.RedisError, OSError):
        return False
