"""One log of all processes: to a file that is turned over, and to the terminal."""

import contextlib
import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

FILE_BYTES = 10 * 1024**2
NUM_OLD_FILES = 4
NAME_WIDTH = 12


class MergedLog:
    """Writes lines, each with the name of the process that said it."""

    def __init__(self, file: Path, terminal: TextIO | None) -> None:
        """Open the file, its folder made as needed.

        Args:
            file: Turned over at ten megabytes; four old ones are kept.
            terminal: Where the lines are shown as well; None for nowhere.
        """
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = RotatingFileHandler(
            file, maxBytes=FILE_BYTES, backupCount=NUM_OLD_FILES, encoding="utf-8"
        )
        self._terminal = terminal

    def write(self, name: str, line: str) -> None:
        """Write one line."""
        text = f"{name:<{NAME_WIDTH}}│ {line}"
        self._file.emit(logging.makeLogRecord({"msg": text}))
        # A terminal that was closed must not stop the studio.
        with contextlib.suppress(OSError, ValueError):
            if self._terminal is not None:
                self._terminal.write(text + "\n")
                self._terminal.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
