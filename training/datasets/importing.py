"""An upload becomes ``rows.jsonl``: read, check, keep pictures, count; one pass.

No Django. What is wrong with a record keeps that record out; only what is wrong with
the upload as a whole ends the import.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from PIL.Image import Image

from training.datasets.archive import ImageArchive
from training.datasets.formats.hf_messages import parse_conversation
from training.datasets.pictures import decode_data_uri, decode_picture
from training.datasets.records import Piece, parse_record, read_pieces
from training.datasets.rows import Row, rows_of
from training.datasets.types import (
    Conversation,
    ImportReport,
    Limits,
    Mistake,
    PictureInvalid,
    RecordInvalid,
    UploadInvalid,
)

KeepPicture = Callable[[Image], str]
"""Keeps RGB pixels and returns their hash; see ``studio.common.frames``."""
Progress = Callable[[ImportReport], None]
ROWS_FILE = "rows.jsonl"
MAX_ARCHIVE_MISTAKES = 20
"""Of the hundred that are kept; the others are for the records."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """What somebody sent, on disk, under its own names."""

    rows: Path
    images: Path | None = None


def import_upload(
    upload: Upload,
    *,
    folder: Path,
    keep_picture: KeepPicture,
    limits: Limits,
    on_progress: Progress = lambda report: None,
) -> ImportReport:
    """Write the rows of an upload to ``folder/rows.jsonl``.

    The file appears whole or not at all, so an import that was cut short is begun
    anew. Pictures are kept under their hashes, so they are not kept twice.

    Args:
        upload: The files.
        folder: Where the rows go; exists.
        keep_picture: Called once for each picture that a good record names.
        limits: What is refused as too large.
        on_progress: Called after each record.

    Raises:
        UploadInvalid: If nothing can be used: a zip that is none, or a bomb.
    """
    report = ImportReport()
    draft = folder / f".{ROWS_FILE}.draft"
    with _Pictures(upload.images, keep_picture, limits) as pictures:
        for mistake in pictures.mistakes[:MAX_ARCHIVE_MISTAKES]:
            report.note(mistake)
        with upload.rows.open("rb") as stream, draft.open("w", encoding="utf-8") as out:
            for piece in read_pieces(stream, max_bytes=limits.max_record_bytes):
                _import_record(piece, upload.rows.name, pictures, limits, report, out)
                on_progress(report)
            out.flush()
            os.fsync(out.fileno())
    draft.replace(folder / ROWS_FILE)
    return report


def read_rows(folder: Path, *, start: int, count: int) -> Iterator[Row]:
    """Yield some rows of an imported data set, for people to look at."""
    with (folder / ROWS_FILE).open(encoding="utf-8") as lines:
        for index, line in enumerate(lines):
            if index >= start + count:
                return
            if index >= start:
                yield json.loads(line)


def _import_record(
    piece: Piece,
    file: str,
    pictures: "_Pictures",
    limits: Limits,
    report: ImportReport,
    out: IO[str],
) -> None:
    try:
        conversation = parse_conversation(parse_record(piece), limits=limits)
        rows = list(rows_of(conversation, pictures.hashes(conversation)))
    except RecordInvalid as error:
        report.reject(
            Mistake(file=file, line=piece.line, field=error.field, reason=error.reason)
        )
        return
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    report.keep(len(rows))


class _Pictures:
    """The pictures of an upload, each decoded and kept once."""

    def __init__(
        self, images: Path | None, keep_picture: KeepPicture, limits: Limits
    ) -> None:
        self._archive = ImageArchive(images, limits=limits) if images else None
        self._keep = keep_picture
        self._limits = limits
        self._known: dict[str, str | PictureInvalid] = {}

    def __enter__(self) -> "_Pictures":
        return self

    def __exit__(self, *error: object) -> None:
        if self._archive:
            self._archive.close()

    @property
    def mistakes(self) -> list[Mistake]:
        return self._archive.mistakes if self._archive else []

    def hashes(self, conversation: Conversation) -> list[str]:
        """Return the hash of each picture of a record, in order.

        Raises:
            RecordInvalid: With the first picture that cannot be used.
        """
        hashes = []
        for path, field in zip(
            conversation.images, conversation.image_fields, strict=True
        ):
            try:
                hashes.append(self._hash(path))
            except PictureInvalid as error:
                raise RecordInvalid(field, str(error)) from error
        return hashes

    def _hash(self, path: str) -> str:
        if path.startswith("data:"):
            return self._decode(decode_data_uri(path))
        if self._archive is None:
            raise PictureInvalid(
                f"the record names {path[:80]!r}, but no zip of images was sent"
            )
        name = self._archive.find(path)
        if name not in self._known:
            try:
                self._known[name] = self._decode(self._archive.read(name))
            except PictureInvalid as error:
                self._known[name] = PictureInvalid(f"{name}: {error}")
        found = self._known[name]
        if isinstance(found, PictureInvalid):
            raise found
        return found

    def _decode(self, data: bytes) -> str:
        return self._keep(decode_picture(data, limits=self._limits))


__all__ = [
    "ROWS_FILE",
    "ImportReport",
    "Limits",
    "Upload",
    "UploadInvalid",
    "import_upload",
    "read_rows",
]
