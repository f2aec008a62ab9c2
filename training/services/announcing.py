"""An environment worker's word in the registry, and its ear for what people want of it.

One thread renews the entry every two seconds and does what is wished: leave the queue,
join it again, end the process. What is wished lies in Redis until it is withdrawn, so
it is also heard by a worker that was busy, cut off, or not yet there.
"""

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from redis.exceptions import RedisError

from environments.browser.chromium import sweep
from environments.events import Event, EventKind, EventLog
from environments.pool import SlotPool
from environments.workers import EnvironmentWorker, SlotEntry, worker_registry
from environments.workers import Intake as IntakeState
from studio.common.redis import connect
from studio.common.registry import (
    HEARTBEAT_S,
    LOST_AFTER_S,
    Registry,
    RegistryUnreadable,
    Wish,
)
from studio.common.usage import UsageMeter
from studio.common.version import code_version
from training.services.intake import Intake
from training.services.seats import SEATS, Seats
from training.services.slots import is_ending

logger = logging.getLogger(__name__)

RESTART_PATIENCE_S: Final = 120.0
"""How long a restart waits for episodes to end; then they are broken off."""

SENTENCES: Final[dict[IntakeState, tuple[EventKind, str]]] = {
    "serving": ("resumed", "takes episodes again"),
    "draining": ("draining", "takes no new episode; still plays: {playing}"),
    "drained": ("drained", "is drained: no episode is left"),
    "restarting": ("restarting", "restarts once it plays nothing; plays: {playing}"),
}
"""What a change of intake is told as."""


def end_this_process() -> None:
    """Ask this process to end, as whoever supervises it would."""
    os.kill(os.getpid(), signal.SIGTERM)


class Announcer:
    """Speaks and listens for one environment worker."""

    def __init__(
        self,
        *,
        name: str,
        pool: SlotPool,
        intake: Intake,
        registry: Registry[EnvironmentWorker],
        events: EventLog,
        meter: UsageMeter,
        is_supervised: bool,
        num_orphans: int = 0,
        seats: Seats = SEATS,
        end: Callable[[], None] = end_this_process,
    ) -> None:
        """Prepare; nothing is said before ``beat`` or ``start``.

        Args:
            name: Of the worker; the same in its next life.
            pool: Its slots.
            intake: Its queue.
            registry: Where it is announced.
            events: Where it tells what happens.
            meter: Measures this process.
            is_supervised: Whether somebody starts it again when it ends.
            num_orphans: Browsers of killed workers that were ended before.
            seats: What its slots play.
            end: Ends this process.
        """
        self.name = name
        self.fence = 0
        """0 until the registry has given one."""
        self._pool = pool
        self._intake = intake
        self._registry = registry
        self._events = events
        self._meter = meter
        self._is_supervised = is_supervised
        self._num_orphans = num_orphans
        self._seats = seats
        self._end = end
        self._began = time.monotonic()
        self._spoke_at = self._began
        self._wish = Wish()
        self._told: IntakeState = "serving"
        self._restart_by: float | None = None
        self._is_cut_off = False
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="announcements", daemon=True
        )

    def start(self) -> None:
        """Announce now, and from now on."""
        self.beat()
        self._thread.start()

    def beat(self) -> None:
        """Renew the entry once, and do what is wished; never raises for Redis."""
        silent_s, self._spoke_at = time.monotonic() - self._spoke_at, time.monotonic()
        if self.fence and silent_s > LOST_AFTER_S:
            # Its leases ran out meanwhile: whoever played with them knows by now.
            self._note("back", f"is heard of again after {silent_s:.0f} s")
        try:
            if not self.fence:
                self._join()
            self._wish = self._registry.announce(self.name, self.fence, self._entry())
        except (RedisError, OSError) as error:
            # What was wished last still holds.
            if not self._is_cut_off:
                logger.warning("registry out of reach: %s", error)
            self._is_cut_off = True
        else:
            self._is_cut_off = False
        self._obey()
        self._tell()

    def close(self) -> None:
        """Say goodbye; nothing is announced afterwards."""
        if self._closing.is_set():
            return
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=HEARTBEAT_S)
        if not self.fence:
            return
        try:
            self._registry.announce(self.name, self.fence, self._entry("ended"))
        except (RedisError, OSError) as error:
            logger.debug("no goodbye: %s", error)
        again = "; it is started again" if self._is_supervised else ""
        self._note("ended", f"ended{again}")

    @property
    def is_restarting(self) -> bool:
        """Return whether this very life was asked to end itself."""
        return self.fence > 0 and self._wish.restart_fence == self.fence

    def _run(self) -> None:
        while not self._closing.wait(HEARTBEAT_S):
            self.beat()

    def _join(self) -> None:
        before = self._life_before()
        self.fence = self._registry.join(self.name)
        num = len(self._pool.slots)
        self._note("started", f"started with {num} slots{before}")
        if self._num_orphans:
            self._note(
                "orphans", f"ended browsers of killed workers: {self._num_orphans}"
            )

    def _life_before(self) -> str:
        try:
            lives = [one for one in self._registry.read().seen if one.name == self.name]
        except RegistryUnreadable:
            return ""
        if not lives or lives[-1].entry.intake == "ended":
            return ""
        return f"; its life before (process {lives[-1].entry.pid}) said no goodbye"

    def _obey(self) -> None:
        if is_ending():
            # Whoever ends the process leaves the queue as well.
            return
        wants_none = self._wish.is_drained or self.is_restarting
        # Asserted anew each time: a connection that came back may have joined again.
        if wants_none and self._intake.is_open:
            self._intake.close()
        elif not wants_none and not self._intake.is_open:
            self._intake.open()
        if self.is_restarting:
            self._restart()

    def _restart(self) -> None:
        now = time.monotonic()
        if self._restart_by is None:
            self._restart_by = now + RESTART_PATIENCE_S
        elif self._num_playing() == 0 or now >= self._restart_by:
            self._end()

    def _tell(self) -> None:
        state = self._state()
        if state != self._told and state in SENTENCES:
            kind, words = SENTENCES[state]
            self._note(kind, words.format(playing=self._num_playing()))
        self._told = state
        for fault in self._seats.take_faults():
            place = f"slot {_short(fault.slot)}" if fault.slot else "an episode"
            self._note(
                "fault",
                f"{place} met a fault: {fault.code}",
                task=str(fault.trajectory.task),
                owner_id=fault.trajectory.owner_id,
            )

    def _note(
        self, kind: EventKind, text: str, *, task: str = "", owner_id: int | None = None
    ) -> None:
        self._events.note(
            Event(kind=kind, worker=self.name, text=text, task=task, owner_id=owner_id)
        )

    def _state(self) -> IntakeState:
        if is_ending():
            return "ending"
        if self.is_restarting:
            return "restarting"
        if self._wish.is_drained:
            return "draining" if self._num_playing() else "drained"
        return "serving"

    def _num_playing(self) -> int:
        return sum(slot.trajectory_id != "" for slot in self._slots())

    def _slots(self) -> list[SlotEntry]:
        return [self._seats.entry(slot.slot_id) for slot in self._pool.slots]

    def _entry(self, state: IntakeState | None = None) -> EnvironmentWorker:
        usage = self._meter.tree()
        slots = self._slots()
        error, error_s = self._seats.last_error()
        return EnvironmentWorker(
            host=socket.gethostname(),
            pid=os.getpid(),
            queue=self._intake.queue,
            code=code_version(),
            intake=state or self._state(),
            up_s=round(time.monotonic() - self._began, 1),
            is_supervised=self._is_supervised,
            slots=tuple(slots),
            own_bytes=usage.own_bytes,
            browser_bytes=usage.children_bytes,
            cpu_percent=usage.cpu_percent,
            num_orphans=self._num_orphans,
            num_restarts=sum(slot.num_restarts for slot in slots),
            num_episodes_last_min=self._seats.num_ended_lately(),
            last_error=error,
            last_error_s=error_s,
            machine=self._meter.machine(),
        )


_started: Final[list[Announcer]] = []


def announcer_start(*, name: str, pool: SlotPool, intake: Intake) -> None:
    """Announce this process's slots from now on."""
    redis = connect(settings.REDIS_URL)
    announcer = Announcer(
        name=name,
        pool=pool,
        intake=intake,
        registry=worker_registry(redis),
        events=EventLog(redis),
        meter=UsageMeter(settings.OCHE_HOME),
        is_supervised=settings.IS_SUPERVISED,
        num_orphans=sweep(),
    )
    _started.append(announcer)
    announcer.start()


def announcer_close() -> None:
    """Say goodbye, if anything was announced."""
    while _started:
        _started.pop().close()


def _short(slot: str) -> str:
    """Return a slot's number within its worker."""
    return slot.rpartition("-")[2]
