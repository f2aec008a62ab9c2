"""A manager's or trainer's word in the registry, renewed by a thread of its own."""

import logging
import os
import socket
import threading
import time
from typing import Final

from django.conf import settings
from redis.exceptions import RedisError

from studio.common.redis import connect
from studio.common.registry import HEARTBEAT_S, Registry
from studio.common.usage import UsageMeter
from studio.common.version import code_version
from training.processes import ProcessEntry, ProcessKind, process_registry

logger = logging.getLogger(__name__)


class Presence:
    """Says that one process is there."""

    def __init__(
        self,
        *,
        kind: ProcessKind,
        name: str,
        registry: Registry[ProcessEntry],
        meter: UsageMeter,
        is_supervised: bool,
    ) -> None:
        """Prepare; nothing is said before ``beat`` or ``start``."""
        self._kind = kind
        self._name = name
        self._registry = registry
        self._meter = meter
        self._is_supervised = is_supervised
        self._fence = 0
        self._began = time.monotonic()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="presence", daemon=True)

    def start(self) -> None:
        """Say it now, and from now on."""
        self.beat()
        self._thread.start()

    def beat(self, *, has_ended: bool = False) -> None:
        """Renew the entry once; what cannot be said now is said later."""
        try:
            if not self._fence:
                self._fence = self._registry.join(self._name)
            entry = self._entry(has_ended=has_ended)
            self._registry.announce(self._name, self._fence, entry)
        except (RedisError, OSError) as error:
            logger.debug("registry out of reach: %s", error)

    def close(self) -> None:
        """Say goodbye."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=HEARTBEAT_S)
        self.beat(has_ended=True)

    def _run(self) -> None:
        while not self._closing.wait(HEARTBEAT_S):
            self.beat()

    def _entry(self, *, has_ended: bool) -> ProcessEntry:
        usage = self._meter.tree()
        return ProcessEntry(
            kind=self._kind,
            host=socket.gethostname(),
            pid=os.getpid(),
            code=code_version(),
            up_s=round(time.monotonic() - self._began, 1),
            is_supervised=self._is_supervised,
            has_ended=has_ended,
            own_bytes=usage.own_bytes,
            children_bytes=usage.children_bytes,
            cpu_percent=usage.cpu_percent,
            machine=self._meter.machine(),
        )


_started: Final[list[Presence]] = []


def presence_start(*, kind: ProcessKind, name: str) -> None:
    """Say from now on that this process is there."""
    presence = Presence(
        kind=kind,
        name=name,
        registry=process_registry(connect(settings.REDIS_URL)),
        meter=UsageMeter(settings.OCHE_HOME),
        is_supervised=settings.IS_SUPERVISED,
    )
    _started.append(presence)
    presence.start()


def presence_close() -> None:
    """Say goodbye, if anything was said."""
    while _started:
        _started.pop().close()
