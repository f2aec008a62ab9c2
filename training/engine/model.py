"""The policy in training: loading it, and the log-probabilities of answers."""

from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from transformers import AutoModelForImageTextToText

from agents.processing import PolicyProcessor
from training.engine.rows import MicroBatch


class TrainedPolicy:
    """A model with its processor; any image-text-to-text model of transformers."""

    def __init__(self, *, model: Any, processor: PolicyProcessor) -> None:
        self.model = model
        self.processor = processor
        self.pad_id: int = processor.tokenizer.pad_token_id
        banned = torch.zeros(model.config.get_text_config().vocab_size)
        banned[list(processor.banned_token_ids)] = float("-inf")
        self._banned_V = banned

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a policy folder, float32.

        Raises:
            PolicyInvalid: If a file is missing or cannot be read.
        """
        model = AutoModelForImageTextToText.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True
        )
        return cls(model=model, processor=PolicyProcessor.load(folder))

    def response_logits(self, batch: MicroBatch) -> Tensor:
        """Return the logits [N, V] that predict the response tokens.

        Only their positions pass the output layer: the logits of a prompt of
        thousands of tokens are never made. Structural tokens are banned here as in
        the sampler, else log-probabilities would not be those of the samples.
        """
        hidden = self.model.model(
            input_ids=batch.input_ids_BT,
            attention_mask=batch.attention_mask_BT,
            pixel_values=batch.pixel_values,
            image_grid_thw=batch.grid_thw,
            mm_token_type_ids=batch.picture_mask_BT,
            use_cache=False,
        ).last_hidden_state
        logits: Tensor = self.model.lm_head(hidden[batch.row_N, batch.position_N])
        return logits.float() + self._banned_V


def token_logprobs(logits_NV: Tensor, target_N: Tensor) -> Tensor:
    """Return the log-probability of each target token."""
    return -torch.nn.functional.cross_entropy(logits_NV, target_N, reduction="none")
