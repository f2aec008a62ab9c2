"""Slots to roll out in: leased, watched, and built anew when they break.

All slots of a process live on one event loop in one thread, and share one host (one
browser) per backend. Callers in other threads come in through ``SlotPool.run``.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from environments import registry
from environments.errors import EnvironmentFault, StartFault, TimeoutFault
from environments.guard import Deadlines, GuardedEnvironment
from environments.registry import Host

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Slot:
    """A place for one episode at a time."""

    def __init__(self, slot_id: str) -> None:
        self.slot_id = slot_id
        """Unique among all workers."""
        self.backend: str | None = None
        """Of the environment that it holds."""
        self.task_name: str | None = None
        """What was played here last; its page is still open."""
        self.environment: GuardedEnvironment | None = None
        self.host: Host | None = None
        """What the environment was built on."""

    @property
    def is_sound(self) -> bool:
        """Return whether the environment that it holds can be used again."""
        return (
            self.environment is not None
            and not self.environment.is_broken
            and self.host is not None
            and self.host.is_alive
        )


class SlotPool:
    """The slots of one process."""

    def __init__(
        self, *, worker: str, num_slots: int, deadlines: Deadlines | None = None
    ) -> None:
        """Make a pool; nothing starts before it is used.

        Args:
            worker: Name of the process, unique among workers; part of the slots' ids.
            num_slots: Episodes at a time, at least 1.
            deadlines: Of everything that a world does.
        """
        if num_slots < 1:
            raise ValueError(f"a pool needs at least one slot, got {num_slots}")
        self.deadlines = deadlines or Deadlines()
        self.slots = [Slot(f"{worker}-{index}") for index in range(num_slots)]
        self._free = list(self.slots)
        self._hosts: dict[str, Host] = {}
        self._freed = asyncio.Condition()
        self._host_lock = asyncio.Lock()
        self._loop = asyncio.new_event_loop()
        # The browsers die with this thread, which ends with the process at the latest.
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=f"slots-{worker}", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the pool's loop and return its result; blocks.

        Must not be called on the loop itself.
        """
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Break off what runs, kill all hosts; the pool cannot be used afterwards.

        Whoever waits in ``run`` gets a ``concurrent.futures.CancelledError``.
        """
        if self._loop.is_closed():
            return
        self.run(self._close_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @asynccontextmanager
    async def lease(
        self, backend: str, *, task_name: str = "", timeout_s: float | None = None
    ) -> AsyncIterator[tuple[Slot, GuardedEnvironment]]:
        """Lend a slot with a sound environment, on the pool's loop.

        A slot that broke in the meantime is cleared away at the end: its page is
        closed, or the whole browser is killed if even that hangs.

        Args:
            backend: What kind of environment.
            task_name: A free slot that has this task's page open is preferred.
            timeout_s: How long to wait for a free slot; None waits for ever.

        Raises:
            TimeoutFault: If no slot became free in time.
            StartFault: If the environment could not be built.
        """
        slot = await self._take(backend, task_name, timeout_s)
        try:
            environment = await self._prepare(slot, backend)
            slot.task_name = task_name or None
            yield slot, environment
        finally:
            # Shielded: a cancelled rollout must still give its slot back.
            await asyncio.shield(self._give_back(slot))

    async def _take(
        self, backend: str, task_name: str, timeout_s: float | None
    ) -> Slot:
        try:
            async with asyncio.timeout(timeout_s), self._freed:
                await self._freed.wait_for(lambda: self._free)
                slot = min(
                    self._free,
                    key=lambda free: (
                        (free.backend, free.task_name) != (backend, task_name),
                        free.backend != backend,
                    ),
                )
                self._free.remove(slot)
                return slot
        except TimeoutError as error:
            raise TimeoutFault(f"no slot became free within {timeout_s} s") from error

    async def _prepare(self, slot: Slot, backend: str) -> GuardedEnvironment:
        if slot.environment is not None and (
            not slot.is_sound or slot.backend != backend
        ):
            await self._clear(slot)
        if slot.environment is None:
            slot.host = await self._sound_host(backend)
            slot.backend = backend
            slot.environment = GuardedEnvironment(
                registry.create(backend, host=slot.host), self.deadlines
            )
        return slot.environment

    async def _give_back(self, slot: Slot) -> None:
        try:
            if not slot.is_sound:
                await self._clear(slot)
        finally:
            # Whatever clearing away meets: a slot that is lost is waited for for ever.
            async with self._freed:
                self._free.append(slot)
                self._freed.notify()

    async def _clear(self, slot: Slot) -> None:
        """Throw a slot's environment away, with its host if it will not go alone."""
        environment, host, backend = slot.environment, slot.host, slot.backend
        slot.environment = slot.host = slot.backend = slot.task_name = None
        if environment is None or host is None or backend is None:
            return
        try:
            await environment.close()
        except EnvironmentFault:
            logger.warning("host killed", extra={"slot": slot.slot_id})
            await self._kill(backend, host)

    async def _sound_host(self, backend: str) -> Host:
        async with self._host_lock:
            host = self._hosts.get(backend)
            if host is not None and host.is_alive:
                return host
            if host is not None:
                await host.close()
            return await self._start_host(backend)

    async def _start_host(self, backend: str) -> Host:
        host = registry.create_host(backend)
        self._hosts.pop(backend, None)
        try:
            async with asyncio.timeout(self.deadlines.start_s):
                await host.start()
        except TimeoutError as error:
            await host.close()
            limit_s = self.deadlines.start_s
            raise StartFault(f"{backend} did not start within {limit_s:g} s") from error
        self._hosts[backend] = host
        return host

    async def _kill(self, backend: str, host: Host) -> None:
        async with self._host_lock:
            if self._hosts.get(backend) is host:
                del self._hosts[backend]
            await host.close()

    async def _close_all(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=self.deadlines.close_s)
        for slot in self.slots:
            await self._clear(slot)
        for host in self._hosts.values():
            await host.close()
        self._hosts.clear()
