"""Reads the records of a JSON list or of JSON lines, one at a time, whatever the size.

The suffix is not trusted: a file that begins with ``[`` is a list. Memory is bounded by
the largest record allowed, not by the file.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from training.datasets.types import RecordInvalid, shown

CHUNK_BYTES = 64 * 1024
BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n"
OUTSIDE_STRING = re.compile(rb'["{}\[\],]')
INSIDE_STRING = re.compile(rb'["\\]')


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """The bytes of one record, not yet read as JSON."""

    line: int
    """Where it begins, from 1."""
    data: bytes
    problem: str = ""
    """Why there is nothing to read, if so."""


def read_pieces(stream: IO[bytes], *, max_bytes: int) -> Iterator[Piece]:
    """Cut a file into its records.

    Args:
        stream: The file, seekable, at its start.
        max_bytes: Size of the largest record; larger ones come without their data.
    """
    if stream.read(len(BOM)) != BOM:
        stream.seek(0)
    start = stream.tell()
    first = _first_byte(stream)
    stream.seek(start)
    if first == b"[":
        yield from _ListCutter(max_bytes).cut(stream)
    else:
        yield from _cut_lines(stream, max_bytes)


def parse_record(piece: Piece) -> dict[str, Any]:
    """Read a piece as a JSON object.

    Raises:
        RecordInvalid: If it is no UTF-8, no JSON or no object.
    """
    if piece.problem:
        raise RecordInvalid("", piece.problem)
    try:
        record = json.loads(piece.data.decode("utf-8"))
    except UnicodeDecodeError as error:
        found = shown(piece.data[error.start : error.start + 4])
        raise RecordInvalid(
            "", f"expected UTF-8 text, found {found} at byte {error.start + 1}"
        ) from error
    except RecursionError as error:
        raise RecordInvalid("", "the JSON is nested too deeply to be read") from error
    except ValueError as error:
        raise RecordInvalid("", f"expected JSON, but {error}") from error
    if not isinstance(record, dict):
        raise RecordInvalid("", f"expected a JSON object, found {shown(record)}")
    return record


def _first_byte(stream: IO[bytes]) -> bytes:
    while chunk := stream.read(CHUNK_BYTES):
        if stripped := chunk.lstrip(BLANK):
            return stripped[:1]
    return b""


def _too_large(max_bytes: int) -> str:
    return f"the record is larger than the {max_bytes:,} bytes that one may have"


def _cut_lines(stream: IO[bytes], max_bytes: int) -> Iterator[Piece]:
    number = 0
    while line := stream.readline(max_bytes + 1):
        number += 1
        if len(line) > max_bytes and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(CHUNK_BYTES)
            yield Piece(line=number, data=b"", problem=_too_large(max_bytes))
        elif line.strip(BLANK):
            yield Piece(line=number, data=line.strip(BLANK))


class _ListCutter:
    """Finds where the elements of a JSON list begin and end, by brackets and strings."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._element = bytearray()
        self._is_too_large = False
        self._line = 1
        self._element_line = 0
        self._depth = 0
        self._in_string = False
        self._skips_next = False
        self._is_over = False

    def cut(self, stream: IO[bytes]) -> Iterator[Piece]:
        """Yield one piece for each element, and one for whatever is wrong at the end."""
        while chunk := stream.read(CHUNK_BYTES):
            yield from self._feed(chunk)
        if not self._is_over:
            yield Piece(
                line=self._element_line or self._line,
                data=b"",
                problem="the file ends within the list; expected a closing ]",
            )
        elif self._element:
            found = shown(bytes(self._element[:20]))
            yield Piece(
                line=self._element_line,
                data=b"",
                problem=f"expected nothing after the list, found {found}",
            )

    def _feed(self, chunk: bytes) -> Iterator[Piece]:
        at = 0
        while at < len(chunk):
            if self._skips_next:
                self._take(chunk[at : at + 1])
                self._skips_next = False
                at += 1
                continue
            pattern = INSIDE_STRING if self._in_string else OUTSIDE_STRING
            found = None if self._is_over else pattern.search(chunk, at)
            if found is None:
                self._take(chunk[at:])
                return
            self._take(chunk[at : found.start()])
            yield from self._meet(found.group())
            at = found.end()

    def _meet(self, mark: bytes) -> Iterator[Piece]:
        """Take one byte that may change where we are."""
        if mark in b'"\\':
            self._take(mark)
            self._skips_next = mark == b"\\"
            self._in_string ^= mark == b'"'
        elif mark == b"," and self._depth == 1:
            yield from self._finish()
        elif mark == b",":
            self._take(mark)
        elif mark in b"[{":
            if self._depth:
                self._take(mark)
            self._depth += 1
        else:
            self._depth -= 1
            if self._depth:
                self._take(mark)
            else:
                self._is_over = True
                yield from self._finish()

    def _take(self, data: bytes) -> None:
        if not self._element:
            stripped = data.lstrip(BLANK)
            self._line += data[: len(data) - len(stripped)].count(b"\n")
            data = stripped
            if data and not self._is_too_large:
                self._element_line = self._line
        self._line += data.count(b"\n")
        if len(self._element) + len(data) > self._max_bytes:
            self._is_too_large = True
            self._element.clear()
        elif not self._is_too_large:
            self._element += data

    def _finish(self) -> Iterator[Piece]:
        if self._is_too_large:
            yield Piece(
                line=self._element_line, data=b"", problem=_too_large(self._max_bytes)
            )
        elif data := bytes(self._element).strip(BLANK):
            yield Piece(line=self._element_line, data=data)
        self._element.clear()
        self._is_too_large = False
        self._element_line = 0
