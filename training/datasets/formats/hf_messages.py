"""Hugging Face's ``messages`` + ``images``, and its cousins of LLaMA-Factory and Qwen-VL.

``{"messages": [{"role", "content"}], "images": [path]}`` or
``{"conversations": [{"from", "value"}], "image": path}``. A picture stands where
``<image>`` stands in a text, or where a part ``{"type": "image"}`` stands in a list.
"""

from collections.abc import Iterator
from typing import Any, Final

from training.datasets.types import (
    Conversation,
    Limits,
    Message,
    RecordInvalid,
    shown,
)

NAME: Final = "hf_messages"
PLACEHOLDER: Final = "<image>"
ROLES: Final = {
    "system": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
}
IMAGE_PARTS: Final = frozenset({"image", "image_url", "input_image"})
IMAGE_KEYS: Final = ("image", "image_url", "url", "path", "value")
NOT_SUPPORTED: Final = ("video", "videos", "audio", "audios", "tools")
NOT_SUPPORTED_PLACEHOLDERS: Final = ("<video>", "<audio>")
CONTROL_TOKENS: Final = (
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
"""A chat template writes these itself; within a text they would pass for its own."""


def parse_conversation(record: dict[str, Any], *, limits: Limits) -> Conversation:
    """Read one record.

    Raises:
        RecordInvalid: With the first thing that is wrong, and its field.
    """
    for key in NOT_SUPPORTED:
        if record.get(key):
            raise RecordInvalid(
                key, f"{key} cannot be learned from here; expected text and images"
            )
    return _Reader(record, limits).read()


class _Reader:
    """Collects a record's pictures while its messages are read in order."""

    def __init__(self, record: dict[str, Any], limits: Limits) -> None:
        self._record = record
        self._limits = limits
        self._listed = list(_listed_images(record))
        self._num_placed = 0
        self._images: list[str] = []
        self._image_fields: list[str] = []

    def read(self) -> Conversation:
        messages = [self._message(field, raw) for field, raw in self._raw_messages()]
        if self._num_placed != len(self._listed):
            raise RecordInvalid(
                self._listed[0][0].partition("[")[0] if self._listed else "images",
                f"the messages have {self._num_placed} {PLACEHOLDER} placeholders "
                f"but {len(self._listed)} images are listed; expected as many",
            )
        if len(self._images) > self._limits.max_images_per_record:
            raise RecordInvalid(
                "images",
                f"{len(self._images)} images, more than the "
                f"{self._limits.max_images_per_record} of one record",
            )
        messages = [message for message in messages if message.parts]
        _check_order(messages)
        return Conversation(
            messages=messages, images=self._images, image_fields=self._image_fields
        )

    def _raw_messages(self) -> Iterator[tuple[str, Any]]:
        key = "messages" if "messages" in self._record else "conversations"
        raw = self._record.get(key)
        if not isinstance(raw, list) or not raw:
            raise RecordInvalid(
                key if raw is not None else "messages",
                "expected a list of messages, found "
                + (shown(raw) if raw is not None else "none (nor conversations)"),
            )
        if len(raw) > self._limits.max_messages:
            raise RecordInvalid(
                key,
                f"{len(raw)} messages, more than the "
                f"{self._limits.max_messages} of one record",
            )
        if system := self._record.get("system"):
            yield "system", {"role": "system", "content": system}
        for index, message in enumerate(raw):
            yield f"{key}[{index}]", message

    def _message(self, field: str, raw: Any) -> Message:
        if not isinstance(raw, dict):
            raise RecordInvalid(field, f"expected a message, found {shown(raw)}")
        role_key = "role" if "role" in raw else "from"
        content_key = "content" if "content" in raw else "value"
        role = raw.get(role_key)
        if not isinstance(role, str) or role not in ROLES:
            raise RecordInvalid(
                f"{field}.{role_key}",
                f"found {shown(role)}, expected one of {', '.join(ROLES)}",
            )
        content_field = f"{field}.{content_key}"
        parts = _joined(self._parts(content_field, raw.get(content_key)))
        known = ROLES[role]
        if known == "assistant":
            _check_answer(content_field, parts)
        elif known == "user" and not parts:
            raise RecordInvalid(content_field, "the message is empty")
        return Message(
            role=known,
            parts=parts,
            is_learned=known == "assistant" and _is_learned(field, raw),
        )

    def _parts(self, field: str, content: Any) -> Iterator[str | int]:
        if isinstance(content, str):
            yield from self._text(field, content)
        elif isinstance(content, list):
            for index, part in enumerate(content):
                yield from self._part(f"{field}[{index}]", part)
        else:
            raise RecordInvalid(
                field, f"expected text or a list of parts, found {shown(content)}"
            )

    def _part(self, field: str, part: Any) -> Iterator[str | int]:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            key = "value" if "value" in part else "text"
            text = part.get(key)
            if not isinstance(text, str):
                raise RecordInvalid(
                    f"{field}.{key}", f"expected text, found {shown(text)}"
                )
            yield from self._text(f"{field}.{key}", text)
        elif kind in IMAGE_PARTS:
            yield self._image_of_part(field, part)
        else:
            raise RecordInvalid(
                f"{field}.type",
                f"expected text, image or image_url, found {shown(kind or part)}",
            )

    def _text(self, field: str, text: str) -> Iterator[str | int]:
        _check_text(field, text)
        for index, piece in enumerate(text.split(PLACEHOLDER)):
            if index:
                yield self._next_listed()
            if piece:
                yield piece

    def _image_of_part(self, field: str, part: dict[str, Any]) -> int:
        for key in IMAGE_KEYS:
            value = part.get(key)
            if isinstance(value, dict):  # OpenAI: {"image_url": {"url": …}}
                key, value = f"{key}.url", value.get("url")
            if value is None:
                continue
            if not isinstance(value, str) or not value:
                raise RecordInvalid(
                    f"{field}.{key}", f"expected a path, found {shown(value)}"
                )
            return self._place(f"{field}.{key}", value)
        return self._next_listed()

    def _next_listed(self) -> int:
        """Place the next picture of the list; too few of them are found out at the end."""
        self._num_placed += 1
        if self._num_placed > len(self._listed):
            return -1
        return self._place(*self._listed[self._num_placed - 1])

    def _place(self, field: str, path: str) -> int:
        self._images.append(path)
        self._image_fields.append(field)
        return len(self._images) - 1


def _listed_images(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    key = "images" if record.get("images") is not None else "image"
    raw = record.get(key)
    if raw is None:
        return
    if isinstance(raw, str):
        yield key, raw
        return
    if not isinstance(raw, list):
        raise RecordInvalid(key, f"expected a path or a list, found {shown(raw)}")
    for index, path in enumerate(raw):
        if not isinstance(path, str) or not path:
            raise RecordInvalid(
                f"{key}[{index}]", f"expected a path, found {shown(path)}"
            )
        yield f"{key}[{index}]", path


def _joined(parts: Iterator[str | int]) -> list[str | int]:
    """Put neighbouring texts together; none is left empty."""
    joined: list[str | int] = []
    for part in parts:
        if part == "":
            continue
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _check_text(field: str, text: str) -> None:
    for token in (*CONTROL_TOKENS, *NOT_SUPPORTED_PLACEHOLDERS):
        if token in text:
            raise RecordInvalid(
                field,
                f"found {token}; expected plain text, with {PLACEHOLDER} for a picture",
            )
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise RecordInvalid(
            field, "found half of a surrogate pair; expected whole characters"
        )


def _check_answer(field: str, parts: list[str | int]) -> None:
    if not parts or (len(parts) == 1 and not str(parts[0]).strip()):
        raise RecordInvalid(field, "the answer is empty; expected text to learn")
    if any(isinstance(part, int) for part in parts):
        raise RecordInvalid(
            field, "found an image in an answer; expected images in what is asked only"
        )


def _is_learned(field: str, raw: dict[str, Any]) -> bool:
    """Read LLaMA-Factory's ``loss_weight`` and UI-TARS's ``loss_mask``."""
    for key in ("loss_weight", "loss_mask"):
        weight = raw.get(key, 1)
        if weight not in (0, 1):
            raise RecordInvalid(
                f"{field}.{key}",
                f"found {shown(weight)}, expected 0 (history) or 1 (to be learned)",
            )
        if weight == 0:
            return False
    return True


def _check_order(messages: list[Message]) -> None:
    roles = [message.role for message in messages]
    chat = roles[1:] if roles[:1] == ["system"] else roles
    if "system" in chat:
        raise RecordInvalid("messages", "expected a system message only at the start")
    if chat[:1] != ["user"]:
        raise RecordInvalid(
            "messages",
            f"expected a user message first, found {chat[0] if chat else 'none'}",
        )
    if not any(message.is_learned for message in messages):
        raise RecordInvalid("messages", "there is no answer to learn from")
