"""The canonical row: one answer, the history before it, its pictures by their hashes."""

from collections.abc import Iterator, Sequence
from typing import Any

from training.datasets.types import Conversation, Message

Row = dict[str, Any]
"""``{"messages": […, {"role": "assistant", "content": text}], "images": [sha256]}``."""


def rows_of(conversation: Conversation, hashes: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each answer that is to be learned.

    Args:
        conversation: The record.
        hashes: What each of its images is kept under, in their order.
    """
    for end, message in enumerate(conversation.messages, start=1):
        if message.is_learned:
            yield _row(conversation.messages[:end], hashes)


def _row(messages: Sequence[Message], hashes: Sequence[str]) -> Row:
    images = [
        hashes[part]
        for message in messages
        for part in message.parts
        if isinstance(part, int)
    ]
    return {"messages": [_as_chat(message) for message in messages], "images": images}


def _as_chat(message: Message) -> dict[str, Any]:
    if all(isinstance(part, str) for part in message.parts):
        return {
            "role": message.role,
            "content": "".join(str(part) for part in message.parts),
        }
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}
        for part in message.parts
    ]
    return {"role": message.role, "content": content}
