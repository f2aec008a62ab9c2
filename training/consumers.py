"""The live view of a run."""

import asyncio
import contextlib
from typing import Any, Final
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from redis.exceptions import RedisError

from training.events import run_group
from training.selectors import runs_visible_to
from training.services.live import frame_store

CLOSE_SIGNED_OUT: Final = 4401
CLOSE_NOT_FOUND: Final = 4404
WATCH_EVERY_S: Final = 2.0
"""Screens are encoded while somebody says so; those nobody watches cost nothing."""


class RunConsumer(AsyncJsonWebsocketConsumer):
    """Relay the events of one run to one browser; it listens to nothing.

    Who may watch is settled once, on connecting, by joining only that run's
    group: nothing is filtered message by message.
    """

    group: str | None = None
    watch: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        """Let the user in if the run is theirs to see."""
        user = self.scope["user"]
        run_id: UUID = self.scope["url_route"]["kwargs"]["run_id"]
        await self.accept()  # A browser sees a close code only after accept.
        if not user.is_authenticated:
            await self.close(CLOSE_SIGNED_OUT)
            return
        visible = runs_visible_to(user).filter(pk=run_id)
        if not await database_sync_to_async(visible.exists)():
            await self.close(CLOSE_NOT_FOUND)
            return
        self.group = run_group(run_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        self.watch = asyncio.create_task(self._keep_watching(run_id))

    async def disconnect(self, code: int) -> None:
        """Leave the run's group."""
        if self.watch:
            self.watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.watch
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        """Ignore whatever the browser says."""

    async def run_event(self, message: dict[str, Any]) -> None:
        """Pass on a ``training.events.RunEvent``."""
        await self.send_json(message["event"])

    async def _keep_watching(self, run_id: UUID) -> None:
        """Say every two seconds that somebody looks at the run, and wants to hear."""
        while True:
            # A Redis that restarts is asked again; the page shows how old frames are.
            with contextlib.suppress(RedisError, OSError):
                await asyncio.to_thread(frame_store().watch, str(run_id))
                # Membership ends after a day, or with the memory of a Redis.
                await self.channel_layer.group_add(self.group, self.channel_name)
            await asyncio.sleep(WATCH_EVERY_S)
