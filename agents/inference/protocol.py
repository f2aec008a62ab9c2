"""What goes over the wire between clients and inference workers; no torch.

The chat completion is OpenAI's, with the token ids that vLLM's ``return_token_ids``
adds and one field of ours, ``oche``.
"""

import base64
import binascii
import io
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from PIL.Image import Image
from pydantic import BaseModel, ConfigDict, Field

from agents.types import Message, Prompt

PNG_PREFIX: Final = "data:image/png;base64,"


class Wire(BaseModel):
    """Base of all messages: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ImageUrl(Wire):
    """A picture; only data URIs are read, nothing is fetched."""

    url: str = Field(pattern=r"^data:image/[a-z]+;base64,")


class ImagePart(Wire):
    """A picture within a message."""

    type: Literal["image_url"] = "image_url"
    image_url: ImageUrl


class TextPart(Wire):
    """Words within a message."""

    type: Literal["text"] = "text"
    text: str


Part = Annotated[ImagePart | TextPart, Field(discriminator="type")]


class ChatMessage(Wire):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str | list[Part]


class ChatRequest(Wire):
    """``POST /v1/chat/completions``."""

    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    temperature: float = Field(1.0, ge=0, le=5)
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(500, ge=1, le=32_768)
    seed: int | None = None
    logprobs: Literal[True] = True
    return_token_ids: Literal[True] = True


class TokenLogprob(Wire):
    """One response token."""

    token: str
    logprob: float


class Logprobs(Wire):
    """The response's tokens."""

    content: list[TokenLogprob]


class ChoiceMessage(Wire):
    """The answer as a message."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(Wire):
    """The answer."""

    index: Literal[0] = 0
    message: ChoiceMessage
    finish_reason: Literal["stop", "length"]
    token_ids: list[int]
    logprobs: Logprobs


class Usage(Wire):
    """Counts of tokens."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class OcheFields(Wire):
    """What training needs beyond OpenAI's fields."""

    versions: list[int]
    """The policy version that sampled each token."""
    entropies: list[float]
    """Nats, of the distribution that each token was drawn from."""
    queue_s: float
    model_s: float


class ChatResponse(Wire):
    """Answer to ``ChatRequest``."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice] = Field(min_length=1, max_length=1)
    prompt_token_ids: list[int]
    usage: Usage
    oche: OcheFields


class WeightsRequest(Wire):
    """``POST /oche/weights``."""

    model: str = Field(min_length=1, max_length=200)
    version: int = Field(ge=0)
    path: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class LoadedModel(Wire):
    """A model that a worker holds."""

    model: str
    version: int
    sha256: str
    path: str


class WorkerState(Wire):
    """``GET /oche/state``."""

    worker_id: str
    pid: int
    models: list[LoadedModel]
    in_flight: int
    waiting: int
    tokens_sampled: int
    busy_seconds: float
    started_at: float
    """Seconds since 1970."""


class ErrorBody(Wire):
    """What went wrong."""

    code: str
    detail: str


class ErrorResponse(Wire):
    """Every answer that is not 200."""

    error: ErrorBody


def messages_to_wire(prompt: Prompt) -> list[ChatMessage]:
    """Write a prompt's messages, its pictures as lossless data URIs in their places."""
    images = iter(prompt.images)
    return [
        ChatMessage(
            role=message["role"], content=_content_to_wire(message["content"], images)
        )
        for message in prompt.messages
    ]


def _content_to_wire(
    content: str | Sequence[dict[str, str]], images: Iterator[Image]
) -> str | list[Part]:
    if isinstance(content, str):
        return content
    return [
        ImagePart(image_url=ImageUrl(url=_to_data_uri(next(images))))
        if part["type"] == "image"
        else TextPart(text=part["text"])
        for part in content
    ]


def messages_from_wire(
    messages: Sequence[ChatMessage],
) -> tuple[list[Message], list[bytes]]:
    """Return the messages as ``agents.types`` has them, and the pictures' files.

    Raises:
        ValueError: If a picture is not base64.
    """
    images: list[bytes] = []
    plain = [
        {
            "role": message.role,
            "content": message.content
            if isinstance(message.content, str)
            else [_part_from_wire(part, images) for part in message.content],
        }
        for message in messages
    ]
    return plain, images


def _part_from_wire(part: Part, images: list[bytes]) -> dict[str, str]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    images.append(_from_data_uri(part.image_url.url))
    return {"type": "image"}


def _to_data_uri(image: Image) -> str:
    buffer = io.BytesIO()
    # Level 1: a screenshot is sent once over the loopback, so speed beats size.
    image.save(buffer, "PNG", compress_level=1)
    return PNG_PREFIX + base64.b64encode(buffer.getvalue()).decode("ascii")


def _from_data_uri(uri: str) -> bytes:
    try:
        return base64.b64decode(uri.partition(",")[2], validate=True)
    except binascii.Error as error:
        raise ValueError(f"a picture is not base64: {error}") from error
