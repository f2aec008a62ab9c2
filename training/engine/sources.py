"""Where training rows come from: a batch file of rollouts, or demonstrations.

What cannot be trained on is set aside with its reason, never fatal.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.errors import PolicyInvalid
from agents.processing import PolicyProcessor
from agents.types import Prompt
from studio.common.frames import frame_load
from training.engine.rows import Row
from training.rollouts.store import read_tokens, read_trajectory


class RowRefused(Exception):
    """A row that cannot be trained on; the message says why."""


def rows_of_batch(
    batch: Path, *, media_root: Path, processor: PolicyProcessor
) -> tuple[list[Row], list[str]]:
    """Read the rows of a batch file, and why others were set aside."""
    rows: list[Row] = []
    refused: list[str] = []
    for entry in json.loads(batch.read_text())["trajectories"]:
        folder = media_root / entry["folder"]
        steps = read_trajectory(folder)["steps"]
        tokens = read_tokens(folder)
        for index, step in enumerate(steps):
            try:
                rows.append(
                    _row_of_step(
                        index=index,
                        step=step,
                        tokens=tokens,
                        advantage=entry["advantage"],
                        media_root=media_root,
                        processor=processor,
                    )
                )
            except RowRefused as error:
                refused.append(f"{entry['id']} step {index}: {error}")
    return rows, refused


def _row_of_step(
    *,
    index: int,
    step: dict[str, Any],
    tokens: dict[str, np.ndarray],
    advantage: float,
    media_root: Path,
    processor: PolicyProcessor,
) -> Row:
    if f"response_{index}" not in tokens:
        raise RowRefused("it has no tokens")
    pictures = [
        frame_load(media_root, picture["sha256"]) for picture in step["model_images"]
    ]
    images = processor.encode_images(pictures)
    prompt_ids = tokens[f"prompt_{index}"]
    _check_pictures(prompt_ids, images, processor)
    return Row(
        prompt_ids=prompt_ids,
        response_ids=tokens[f"response_{index}"],
        images=images,
        advantage=advantage,
        behaviour_logprobs=tokens[f"logprobs_{index}"],
        versions=tokens[f"versions_{index}"],
    )


def _check_pictures(prompt_ids: Any, images: Any, processor: PolicyProcessor) -> None:
    """A row whose pictures and placeholders disagree would train on the wrong pixels."""
    merge = processor.image_processor.merge_size**2
    expected = 0 if images is None else int(images.grid_thw.prod(axis=1).sum()) // merge
    found = int((prompt_ids == processor.image_token_id).sum())
    if found != expected:
        raise RowRefused(f"{found} picture tokens for pictures that take {expected}")


class Demonstrations:
    """The rows of a data set, in an order that a seed fixes for each epoch."""

    def __init__(
        self,
        rows_file: Path,
        *,
        media_root: Path,
        processor: PolicyProcessor,
        seed: int,
    ) -> None:
        with rows_file.open(encoding="utf-8") as lines:
            self._rows = [json.loads(line) for line in lines if line.strip()]
        if not self._rows:
            raise ValueError(f"{rows_file.name} has no rows to learn from")
        self._media_root = media_root
        self._processor = processor
        self._seed = seed

    def __len__(self) -> int:
        return len(self._rows)

    def batch(self, step: int, num_rows: int) -> list[Row]:
        """Return the rows of an optimizer step, counted from 1.

        The same step gives the same rows, so a resumed run goes on where it was.

        Raises:
            PolicyInvalid: If no row of the batch can be encoded.
        """
        wanted = range((step - 1) * num_rows, step * num_rows)
        rows = list(self._encode(self._indices(wanted)))
        if not rows:
            raise PolicyInvalid(f"no row of optimizer step {step} can be encoded")
        return rows

    def _indices(self, positions: Sequence[int]) -> Iterator[int]:
        size = len(self._rows)
        orders: dict[int, np.ndarray] = {}
        for position in positions:
            epoch = position // size
            if epoch not in orders:
                generator = np.random.default_rng([self._seed, epoch])
                orders[epoch] = generator.permutation(size)
            yield int(orders[epoch][position % size])

    def _encode(self, indices: Iterator[int]) -> Iterator[Row]:
        for index in indices:
            row = self._rows[index]
            *before, last = row["messages"]
            images = [frame_load(self._media_root, sha) for sha in row["images"]]
            try:
                encoded = self._processor.encode(Prompt(messages=before, images=images))
            except PolicyInvalid:
                continue
            yield Row(
                prompt_ids=encoded.input_ids,
                response_ids=self._processor.encode_response(_text_of(last["content"])),
                images=encoded.images,
            )


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")
