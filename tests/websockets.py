"""A WebSocket client for tests, without the server that Channels' own one brings."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator


class Socket(ApplicationCommunicator):
    """One connection to the studio's ASGI application."""

    def __init__(self, application: Any, path: str, *, user: Any = None, headers=()):
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": list(headers),
            "subprotocols": [],
        }
        super().__init__(application, scope)
        if user is not None:
            # What a session says comes later, and does not replace what is there.
            self.scope["user"] = user

    async def connect(self) -> bool:
        """Return whether the server let it in."""
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output(3))["type"] == "websocket.accept"

    async def receive_json(self) -> Any:
        """Return the next message."""
        message = await self.receive_output(3)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def close_code(self) -> int:
        """Return the code that the server closes the connection with."""
        message = await self.receive_output(3)
        assert message["type"] == "websocket.close", message
        return message["code"]

    async def disconnect(self) -> None:
        """Close from this side."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(3)
