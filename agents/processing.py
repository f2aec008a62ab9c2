"""Turns a chat with pictures into a model's tensors, by the policy's own files.

transformers' ``AutoProcessor`` wants a video processor, and with it torchvision; an
image processor and a tokenizer are all that is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from transformers import AutoImageProcessor, AutoTokenizer

from agents.errors import PolicyInvalid
from agents.types import Message, Prompt

IMAGE_PAD = "<|image_pad|>"
STRUCTURAL_TOKENS = (
    "<|im_start|>",
    "<|endoftext|>",
    "<|vision_start|>",
    "<|vision_end|>",
    IMAGE_PAD,
    "<|video_pad|>",
)
"""What only a prompt may hold. A sampled ``<|image_pad|>`` has no picture behind it
and would crash the forward pass that trains on it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodedImages:
    """Pictures as a vision tower takes them."""

    pixel_values: np.ndarray
    """float32 [patches, values per patch], all pictures one after the other."""
    grid_thw: np.ndarray
    """int64 [pictures, 3]: frames, rows and columns of patches."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """A prompt as a model takes it."""

    input_ids: np.ndarray
    """int32 [T], every picture expanded to its placeholder tokens."""
    images: EncodedImages | None
    """None when the prompt has no picture."""


class PolicyProcessor:
    """The tokenizer and image processor of one policy folder."""

    def __init__(self, *, tokenizer: Any, image_processor: Any) -> None:
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.image_token_id: int = tokenizer.convert_tokens_to_ids(IMAGE_PAD)
        self.stop_token_ids: tuple[int, ...] = (tokenizer.eos_token_id,)
        vocabulary = tokenizer.get_vocab()
        self.banned_token_ids: tuple[int, ...] = tuple(
            vocabulary[token] for token in STRUCTURAL_TOKENS if token in vocabulary
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a policy folder; nothing is looked up on a hub, no code is run.

        Raises:
            PolicyInvalid: If a file is missing or cannot be read.
        """
        try:
            return cls(
                tokenizer=AutoTokenizer.from_pretrained(folder, local_files_only=True),
                image_processor=AutoImageProcessor.from_pretrained(
                    folder, local_files_only=True
                ),
            )
        except (OSError, ValueError, KeyError) as error:
            raise PolicyInvalid(
                f"{folder} is no policy: expected a tokenizer and an image processor "
                f"in Hugging Face layout, got: {error}"
            ) from error

    def encode_images(self, images: Any) -> EncodedImages | None:
        """Resize, normalise and cut pictures (PIL, RGB) into patches."""
        if not images:
            return None
        out = self.image_processor(images=list(images), return_tensors="np")
        return EncodedImages(
            pixel_values=np.asarray(out["pixel_values"], dtype=np.float32),
            grid_thw=np.asarray(out["image_grid_thw"], dtype=np.int64),
        )

    def encode(self, prompt: Prompt) -> Encoded:
        """Encode a chat up to where the answer begins.

        Raises:
            PolicyInvalid: If placeholders and pictures do not match in number.
        """
        images = self.encode_images(prompt.images)
        return Encoded(
            input_ids=self.encode_chat(prompt.messages, images), images=images
        )

    def encode_chat(
        self, messages: Sequence[Message], images: EncodedImages | None
    ) -> np.ndarray:
        """Return a chat's token ids (int32) for pictures that are encoded already.

        Raises:
            PolicyInvalid: If placeholders and pictures do not match in number.
        """
        text = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return self._expand(ids, images)

    def encode_response(self, text: str) -> np.ndarray:
        """Return the token ids of an answer (int32), the end-of-turn token last."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return np.asarray([*ids, self.stop_token_ids[0]], dtype=np.int32)

    def decode(self, ids: Any) -> str:
        """Return an answer's text without structural and end-of-turn tokens."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))

    def token_texts(self, ids: Any) -> list[str]:
        """Return what each token stands for, for people."""
        return [self.tokenizer.decode([int(token)]) for token in ids]

    def _expand(self, ids: list[int], images: EncodedImages | None) -> np.ndarray:
        merge = self.image_processor.merge_size**2
        counts = (
            [] if images is None else (images.grid_thw.prod(axis=1) // merge).tolist()
        )
        if ids.count(self.image_token_id) != len(counts):
            raise PolicyInvalid(
                f"the chat has {ids.count(self.image_token_id)} picture placeholders "
                f"but {len(counts)} pictures"
            )
        remaining = iter(counts)
        expanded: list[int] = []
        for token in ids:
            is_picture = token == self.image_token_id
            expanded.extend([token] * (next(remaining) if is_picture else 1))
        return np.asarray(expanded, dtype=np.int32)
