"""Training rows as tensors: one row is one answer and the prompt that it answers.

Shapes: B rows, T tokens (prompt and response, padded on the right), N response
tokens of all rows, V words of the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agents.processing import EncodedImages


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One answer to learn from."""

    prompt_ids: np.ndarray
    """int32, pictures expanded."""
    response_ids: np.ndarray
    """int32 [n]; what the loss is on."""
    images: EncodedImages | None
    advantage: float = 0.0
    behaviour_logprobs: np.ndarray | None = None
    """float32 [n], as sampled; None for demonstrations."""
    versions: np.ndarray | None = None
    """int32 [n], the policy version that sampled each token."""

    @property
    def num_tokens(self) -> int:
        """Return the length of prompt and response together."""
        return len(self.prompt_ids) + len(self.response_ids)


@dataclass(frozen=True, kw_only=True, slots=True)
class MicroBatch:
    """Some rows as the model takes them."""

    input_ids_BT: Tensor
    attention_mask_BT: Tensor
    picture_mask_BT: Tensor
    """int32; 1 on picture placeholders, what Qwen-VL calls token types."""
    pixel_values: Tensor | None
    grid_thw: Tensor | None
    row_N: Tensor
    """Which row each response token belongs to."""
    position_N: Tensor
    """Where the logits stand that predict it: one before the token itself."""
    target_N: Tensor
    """The token ids."""

    @property
    def padding_share(self) -> float:
        """Return the share of positions that hold padding."""
        return 1.0 - float(self.attention_mask_BT.float().mean())


def collate(rows: Sequence[Row], *, pad_id: int, image_token_id: int) -> MicroBatch:
    """Pad rows to one length and note where their response tokens are."""
    length = max(row.num_tokens for row in rows)
    ids = np.full((len(rows), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(rows), length), dtype=np.int64)
    row_of, position_of, targets = [], [], []
    for number, row in enumerate(rows):
        start, end = len(row.prompt_ids), row.num_tokens
        ids[number, :start] = row.prompt_ids
        ids[number, start:end] = row.response_ids
        mask[number, :end] = 1
        row_of.append(np.full(end - start, number))
        position_of.append(np.arange(start - 1, end - 1))
        targets.append(row.response_ids)
    pictures = [row.images for row in rows if row.images is not None]
    return MicroBatch(
        input_ids_BT=torch.from_numpy(ids),
        attention_mask_BT=torch.from_numpy(mask),
        picture_mask_BT=torch.from_numpy((ids == image_token_id).astype(np.int32)),
        pixel_values=_join([picture.pixel_values for picture in pictures]),
        grid_thw=_join([picture.grid_thw for picture in pictures]),
        row_N=torch.from_numpy(np.concatenate(row_of)).long(),
        position_N=torch.from_numpy(np.concatenate(position_of)).long(),
        target_N=torch.from_numpy(np.concatenate(targets)).long(),
    )


def micro_batches(rows: Sequence[Row], *, max_rows: int) -> list[list[int]]:
    """Return indices of rows, cut into groups of like length so that little is padding."""
    by_length = sorted(range(len(rows)), key=lambda index: rows[index].num_tokens)
    return [
        by_length[start : start + max_rows]
        for start in range(0, len(by_length), max_rows)
    ]


def _join(arrays: list[np.ndarray]) -> Tensor | None:
    return torch.from_numpy(np.concatenate(arrays)) if arrays else None
