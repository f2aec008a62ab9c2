"""Requests, and the plain forward pass that answers are held against."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText

from agents.inference.engines.base import Sampled, SampleRequest
from agents.processing import PolicyProcessor
from agents.types import Prompt

INSTRUCTION = 'Enter "Bob" into the 2nd input textbox and press Submit.'


def picture(seed: int = 0, size: tuple[int, int] = (160, 160)) -> Image.Image:
    """Return a picture of noise in coarse blocks."""
    blocks = np.random.default_rng(seed).integers(0, 256, (10, 10, 3), dtype=np.uint8)
    return Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST)


def png(image: Image.Image) -> bytes:
    """Return a picture as a file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def prompt(text: str = INSTRUCTION, *images: Image.Image) -> Prompt:
    """Return a chat with pictures before the text."""
    shown = images or (picture(),)
    content: list[dict[str, Any]] = [{"type": "image"} for _ in shown]
    content.append({"type": "text", "text": text})
    return Prompt(messages=[{"role": "user", "content": content}], images=shown)


def request(
    chat: Prompt | None = None, *, model: str = "run-a", **how: Any
) -> SampleRequest:
    """Return a request; greedy and of eight tokens unless told otherwise."""
    chat = chat or prompt()
    options: dict[str, Any] = {"temperature": 0.0, "max_tokens": 8} | how
    return SampleRequest(
        model=model,
        messages=chat.messages,
        images=[png(image) for image in chat.images],
        **options,
    )


def plain_logprobs(
    folder: Path, chat: Prompt, sampled: Sampled, *, temperature: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return log-probabilities and entropies by one pass without cache or padding."""
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    processor = PolicyProcessor.load(folder)
    encoded = processor.encode(chat)
    ids = torch.tensor([[*encoded.input_ids.tolist(), *sampled.token_ids]])
    pictures: dict[str, Any] = {}
    if encoded.images is not None:
        pictures = {
            "pixel_values": torch.from_numpy(encoded.images.pixel_values),
            "image_grid_thw": torch.from_numpy(encoded.images.grid_thw),
            "mm_token_type_ids": (ids == processor.image_token_id).int(),
        }
    with torch.no_grad():
        logits = model(input_ids=ids, use_cache=False, **pictures).logits[0]
    start = len(encoded.input_ids) - 1
    logits = logits[start : start + len(sampled.token_ids)]
    logits[:, list(processor.banned_token_ids)] = float("-inf")
    distribution = torch.distributions.Categorical(logits=logits / temperature)
    logprobs = distribution.log_prob(torch.tensor(sampled.token_ids))
    probs = distribution.probs
    entropies = -(probs * probs.clamp_min(1e-30).log()).sum(dim=-1)
    return logprobs.numpy(), entropies.numpy()
