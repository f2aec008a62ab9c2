"""The DevTools protocol over one WebSocket: commands, answers, events.

All pages of a browser share the connection; each message carries the id of the
session that it belongs to ("flat" sessions).
"""

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from environments.errors import StepFault

logger = logging.getLogger(__name__)

Listener = Callable[[dict[str, Any]], None]


class DevTools:
    """A connection to one browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: dict[tuple[str | None, str], Listener] = {}
        self._is_closed = False
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, url: str) -> "DevTools":
        """Open the connection."""
        socket = await connect(url, max_size=None, compression=None, ping_interval=None)
        return cls(socket)

    @property
    def is_open(self) -> bool:
        """Return whether commands can still be sent."""
        return not self._is_closed

    async def send(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        session: str | None = None,
    ) -> dict[str, Any]:
        """Send a command and return its result.

        Raises:
            StepFault: If the browser refuses it, or is gone.
        """
        if self._is_closed:
            raise StepFault(f"the browser is gone, cannot send {method}")
        command_id = next(self._ids)
        message: dict[str, Any] = {"id": command_id, "method": method}
        if params:
            message["params"] = params
        if session is not None:
            message["sessionId"] = session
        answer: asyncio.Future[dict[str, Any]] = (
            asyncio.get_running_loop().create_future()
        )
        self._waiting[command_id] = answer
        try:
            await self._socket.send(json.dumps(message))
            reply = await answer
        except ConnectionClosed as error:
            raise StepFault(f"the browser is gone, cannot send {method}") from error
        finally:
            self._waiting.pop(command_id, None)
        if "error" in reply:
            raise StepFault(f"{method} failed: {reply['error'].get('message')}")
        result: dict[str, Any] = reply["result"]
        return result

    def on(self, session: str | None, event: str, listener: Listener) -> None:
        """Call ``listener`` with the parameters of each such event of a session."""
        self._listeners[session, event] = listener

    def forget(self, session: str) -> None:
        """Drop the listeners of a session."""
        for key in [key for key in self._listeners if key[0] == session]:
            del self._listeners[key]

    async def close(self) -> None:
        """Hang up."""
        self._is_closed = True
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        with contextlib.suppress(ConnectionClosed, OSError):
            self._socket.transport.abort()

    async def _read(self) -> None:
        try:
            async for text in self._socket:
                self._receive(json.loads(text))
        except ConnectionClosed:
            logger.debug("browser hung up")
        finally:
            self._is_closed = True
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(StepFault("the browser is gone"))

    def _receive(self, message: dict[str, Any]) -> None:
        if "id" in message:
            answer = self._waiting.get(message["id"])
            if answer is not None and not answer.done():
                answer.set_result(message)
            return
        listener = self._listeners.get((message.get("sessionId"), message["method"]))
        if listener is not None:
            listener(message.get("params", {}))
