"""``rows.jsonl``: the file of a data set's rows, one JSON object a line."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from agents.types import Prompt
from studio.common.frames import frame_save
from training.datasets.rows import Row


def demonstration_row(*, prompt: Prompt, answer: str, media_root: Path) -> Row:
    """Return what was shown and answered as a row; pictures go among the frames."""
    answered: dict[str, Any] = {"role": "assistant", "content": answer}
    return {
        "messages": [*prompt.messages, answered],
        "images": [frame_save(media_root, picture) for picture in prompt.images],
    }


class RowWriter:
    """Writes ``rows.jsonl``; use as a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = path.open("w", encoding="utf-8")
        self.num_rows = 0

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        for row in rows:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.num_rows += len(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
