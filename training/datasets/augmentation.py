"""More rows from few episodes: the same screen with another text to type.

A policy this small learns to copy only from many texts, and a text that is not on
the screen yet can be any other.
"""

import random
from collections.abc import Iterable
from typing import Any, Final

from agents.policies.wordings import random_text
from training.datasets.rows import Row

TYPE: Final = "<|type|>"


def retexted(row: Row, rng: random.Random) -> Row | None:
    """Return the row with another text to type in instruction and answer.

    Args:
        row: In the compact answer format.
        rng: Draws the text.

    Returns:
        None if the answer types nothing, the instruction does not quote it, or the
        screen may show it already.
    """
    *before, last = row["messages"]
    answer: str = last["content"]
    text = answer.removeprefix(TYPE)
    if text == answer or not text:
        return None
    instruction, *past = _text_of(before[-1]).split("\n")
    if instruction.count(f'"{text}"') != 1 or f"{TYPE}{text}" in past:
        return None
    fresh = random_text(rng)
    asked = "\n".join([instruction.replace(f'"{text}"', f'"{fresh}"'), *past])
    return row | {
        "messages": [
            *before[:-1],
            _with_text(before[-1], asked),
            {**last, "content": TYPE + fresh},
        ]
    }


def augmented(rows: Iterable[Row], *, copies: int, seed: int) -> list[Row]:
    """Return the rows, and ``copies`` retexted ones of each that allows it."""
    rng = random.Random(seed)  # noqa: S311 - texts, no secret
    result: list[Row] = []
    for row in rows:
        result.append(row)
        variants = (retexted(row, rng) for _ in range(copies))
        result += [variant for variant in variants if variant is not None]
    return result


def _text_of(message: dict[str, Any]) -> str:
    return str(next(p["text"] for p in message["content"] if p["type"] == "text"))


def _with_text(message: dict[str, Any], text: str) -> dict[str, Any]:
    content = [
        part | {"text": text} if part["type"] == "text" else part
        for part in message["content"]
    ]
    return message | {"content": content}
