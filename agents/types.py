"""What passes between a policy and whoever drives it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL.Image import Image

from environments.actions import Action

Message = dict[str, Any]
"""A chat message, OpenAI's shape: ``{"role": …, "content": str | [parts]}``. An image
part is ``{"type": "image"}`` and takes the next of the images beside it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A chat as a policy is asked it; images in the order of their parts."""

    messages: Sequence[Message]
    images: Sequence[Image]
    """RGB, exactly the pixels that are sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What an inference worker sampled; all arrays have one entry per token.

    T response tokens, the end-of-turn token included where it was sampled.
    """

    text: str
    """The response decoded, special tokens of the answer format kept, the
    end-of-turn token not."""
    prompt_token_ids: np.ndarray
    """int32, images expanded to their placeholder tokens."""
    response_token_ids: np.ndarray
    """int32 [T]."""
    logprobs: np.ndarray
    """float32 [T], of the sampling distribution (temperature applied)."""
    entropies: np.ndarray
    """float32 [T], nats."""
    versions: np.ndarray
    """int32 [T], the policy version that sampled each token."""
    finish_reason: str
    """``stop``, or ``length`` when it was cut off."""
    timings_s: Mapping[str, float] = field(default_factory=dict)
    """``queue`` and ``model`` seconds."""
    token_texts: Sequence[str] = ()
    """What each response token stands for, for people."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """One turn of a policy: what it was shown, what it said, what that means."""

    prompt: Prompt
    answer: Answer | None
    """None for policies without tokens: oracles and people."""
    text: str
    """The answer as text in the policy's format."""
    action: Action | None
    """None when the text could not be parsed."""
    parse_error: str | None = None
    """Where and why parsing stopped, for people."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A past decision within the episode, as later prompts need it."""

    text: str
    """The answer's text."""
