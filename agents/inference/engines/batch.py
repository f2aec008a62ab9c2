"""Answers of one model that are being sampled together.

Rows come and go between two tokens. All share one key-value cache, padded on the
left so that every row's newest token stands in the last column.

Shapes: B rows, L columns of the cache.
"""

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.modeling_outputs import BaseModelOutputWithPooling

from agents.inference.engines.base import Sampled, SampleRequest
from agents.inference.engines.resident import PreparedPrompt, ResidentModel
from agents.inference.engines.sampling import draw


@dataclass(kw_only=True, slots=True)
class Row:
    """One request on its way to an answer."""

    request: SampleRequest
    prompt: PreparedPrompt
    future: "Future[Sampled]"
    on_done: Callable[[], None]
    """Called before the answer is given: who has it must find the counts right."""
    submitted_at: float
    """Seconds of the monotonic clock, like all times here."""
    admitted_at: float = 0.0
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    generator: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.generator = random.Random(self.request.seed)  # noqa: S311 - not a secret

    @property
    def next_position(self) -> int:
        """Return where the newest token stands, on all three axes."""
        return self.prompt.next_position + len(self.ids) - 1

    def answer(self, sampled: Sampled) -> None:
        """Give the answer."""
        self.on_done()
        self.future.set_result(sampled)

    def fail(self, error: BaseException) -> None:
        """Answer with an error, unless it is answered already."""
        if not self.future.done():
            self.on_done()
            self.future.set_exception(error)


class DecodeBatch:
    """The rows of one model and their cache; used by the engine's thread alone."""

    def __init__(
        self, resident: ResidentModel, *, on_drawn: Callable[[int], None]
    ) -> None:
        """Begin without rows.

        Args:
            resident: The model.
            on_drawn: Told how many tokens were drawn, before any answer is given.
        """
        self._resident = resident
        self._on_drawn = on_drawn
        self._stop_ids = frozenset(resident.processor.stop_token_ids)
        self._rows: list[Row] = []
        self._cache: Any = None
        self._mask_BL = torch.zeros(0, 0, dtype=torch.long)

    def __len__(self) -> int:
        return len(self._rows)

    def admit(self, rows: Sequence[Row]) -> None:
        """Read the prompts of new rows and draw their first tokens."""
        now = time.monotonic()
        for row in rows:
            row.admitted_at = now
        cache, mask_BL, logits_BV = self._prefill(rows)
        going = self._draw(rows, logits_BV)
        kept = _select(cache, mask_BL, going)
        self._merge([rows[index] for index in going], cache, kept)

    def step(self) -> None:
        """Draw the next token of every row."""
        rows = self._rows
        self._mask_BL = torch.nn.functional.pad(self._mask_BL, (0, 1), value=1)
        positions_B = torch.tensor([row.next_position for row in rows])
        out = self._resident.model(
            input_ids=torch.tensor([row.ids[-1:] for row in rows]),
            attention_mask=self._mask_BL,
            position_ids=positions_B.view(1, -1, 1).expand(3, -1, 1),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        going = self._draw(rows, out.logits[:, -1])
        if len(going) < len(rows):
            self._mask_BL = _select(self._cache, self._mask_BL, going)
            self._rows = [rows[index] for index in going]

    def abandon(self, error: BaseException) -> None:
        """Fail every row and start anew."""
        for row in self._rows:
            row.fail(error)
        self._rows, self._cache = [], None

    def _prefill(self, rows: Sequence[Row]) -> tuple[Any, Tensor, Tensor]:
        length = max(len(row.prompt.ids) for row in rows)
        pad_id = self._resident.processor.tokenizer.pad_token_id or 0
        ids_BL = torch.full((len(rows), length), pad_id)
        mask_BL = torch.zeros(len(rows), length, dtype=torch.long)
        positions_3BL = torch.zeros(3, len(rows), length, dtype=torch.long)
        for index, row in enumerate(rows):
            start = length - len(row.prompt.ids)
            ids_BL[index, start:] = torch.tensor(row.prompt.ids)
            mask_BL[index, start:] = 1
            positions_3BL[:, index, start:] = row.prompt.positions
        cache = DynamicCache(config=self._resident.model.config)
        out = self._resident.model(
            input_ids=ids_BL,
            attention_mask=mask_BL,
            position_ids=positions_3BL,
            cache=cache,
            mm_encoder_outputs=self._see(rows),
            use_cache=True,
            logits_to_keep=1,
        )
        return cache, mask_BL, out.logits[:, -1]

    def _see(self, rows: Sequence[Row]) -> dict[str, Any] | None:
        """Return the vision tower's output for all pictures, in the prompts' order."""
        features = self._resident.picture_features(
            [picture for row in rows for picture in row.prompt.pictures]
        )
        if not features:
            return None
        seen: Any = BaseModelOutputWithPooling()
        seen.pooler_output = tuple(picture.merged for picture in features)
        layers = zip(*(picture.deepstack for picture in features), strict=True)
        seen.deepstack_features = list(layers)
        return {"image": seen}

    def _draw(self, rows: Sequence[Row], logits_BV: Tensor) -> list[int]:
        """Append a token to every row; return the indices of rows that go on."""
        drawn = draw(
            logits_BV,
            banned_V=self._resident.banned_V,
            temperatures=[row.request.temperature for row in rows],
            top_ps=[row.request.top_p for row in rows],
            uniforms=[row.generator.random() for row in rows],
        )
        self._on_drawn(len(rows))
        going = []
        for index, row in enumerate(rows):
            row.ids.append(drawn.ids[index])
            row.logprobs.append(drawn.logprobs[index])
            row.entropies.append(drawn.entropies[index])
            row.versions.append(self._resident.weights.version)
            if drawn.ids[index] in self._stop_ids:
                self._finish(row, "stop")
            elif len(row.ids) >= row.request.max_tokens:
                self._finish(row, "length")
            else:
                going.append(index)
        return going

    def _finish(self, row: Row, reason: str) -> None:
        row.answer(
            Sampled(
                text=self._resident.processor.decode(row.ids),
                prompt_token_ids=row.prompt.ids,
                token_ids=row.ids,
                token_texts=self._resident.token_texts(row.ids),
                logprobs=row.logprobs,
                entropies=row.entropies,
                versions=row.versions,
                finish_reason=reason,
                queue_s=row.admitted_at - row.submitted_at,
                model_s=time.monotonic() - row.admitted_at,
            )
        )

    def _merge(self, rows: list[Row], cache: Any, mask_BL: Tensor) -> None:
        if not rows:
            return
        if not self._rows:
            self._rows, self._cache, self._mask_BL = rows, cache, mask_BL
            return
        length = max(self._mask_BL.shape[1], mask_BL.shape[1])
        for mine, theirs in zip(self._cache.layers, cache.layers, strict=True):
            mine.keys = _stack(mine.keys, theirs.keys, length)
            mine.values = _stack(mine.values, theirs.values, length)
        masks = [_pad_left(mask, length, dim=1) for mask in (self._mask_BL, mask_BL)]
        self._mask_BL = torch.cat(masks)
        self._rows = [*self._rows, *rows]


def _select(cache: Any, mask_BL: Tensor, going: list[int]) -> Tensor:
    """Keep some rows of a cache, without the columns that none of them uses."""
    index_B = torch.tensor(going, dtype=torch.long)
    mask_BL = mask_BL[index_B]
    first = int(mask_BL.argmax(dim=1).min()) if going else 0
    for layer in cache.layers:
        layer.keys = layer.keys[index_B, :, first:]
        layer.values = layer.values[index_B, :, first:]
    return mask_BL[:, first:]


def _stack(ours: Tensor, theirs: Tensor, length: int) -> Tensor:
    return torch.cat([_pad_left(tensor, length, dim=2) for tensor in (ours, theirs)])


def _pad_left(tensor: Tensor, length: int, *, dim: int) -> Tensor:
    missing = length - tensor.shape[dim]
    if missing == 0:
        return tensor
    shape = [*tensor.shape]
    shape[dim] = missing
    return torch.cat([tensor.new_zeros(shape), tensor], dim=dim)
