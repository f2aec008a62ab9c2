"""Refuses request bodies that are too large before they reach the disk; no Django.

Under ASGI Django writes a whole body to a temporary file before any view is asked,
so a view's own limit comes too late.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
# Any: Django's handler and Starlette's kin each spell these types their own way.
Application = Callable[[Any, Any, Any], Awaitable[None]]


class _TooLarge(Exception):
    """The body grew past its limit while it was received."""


class BodyLimit:
    """An ASGI application that answers 413, naming the limit, in another's stead."""

    def __init__(
        self, application: Application, *, max_upload_bytes: int, max_bytes: int
    ) -> None:
        """Wrap an application.

        Args:
            application: What answers everything else.
            max_upload_bytes: Limit of a multipart body.
            max_bytes: Limit of any other body.
        """
        self._application = application
        self._max_upload_bytes = max_upload_bytes
        self._max_bytes = max_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        is_upload = headers.get(b"content-type", b"").startswith(b"multipart/form-data")
        limit = self._max_upload_bytes if is_upload else self._max_bytes
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit:
            await _refuse(send, limit)
            return
        try:
            await self._application(scope, _counted(receive, limit), send)
        except _TooLarge:
            await _refuse(send, limit)


def _counted(receive: Receive, limit: int) -> Receive:
    """Count what arrives: a chunked body does not say its length beforehand."""
    num_bytes = 0

    async def counted() -> Message:
        nonlocal num_bytes
        message = await receive()
        num_bytes += len(message.get("body", b""))
        if num_bytes > limit:
            raise _TooLarge
        return message

    return counted


async def _refuse(send: Send, limit: int) -> None:
    detail = f"the body has more than the {limit:,} bytes allowed"
    body = json.dumps({"code": "too_large", "detail": detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        # What was not read stays in the connection: it cannot be used again.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
