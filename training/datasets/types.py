"""What an import passes around: limits, mistakes, conversations, the report."""

from collections.abc import Sequence
from dataclasses import dataclass, field

MIB = 1024**2
GIB = 1024**3


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much an upload may ask of this machine, beside its own size on the wire."""

    max_record_bytes: int = 8 * MIB
    """Size of one record, that is of one line of a JSONL file."""
    max_messages: int = 400
    """Messages in one conversation; each answer becomes a row with its history."""
    max_images_per_record: int = 100
    max_members: int = 200_000
    """Files in the zip."""
    max_unpacked_bytes: int = 32 * GIB
    """What all files of the zip come to, unpacked."""
    max_ratio: int = 100
    """Unpacked over packed size of one file, where it is more than 1 MiB unpacked.
    Pictures are compressed already: real ones stay far below."""
    max_image_bytes: int = 32 * MIB
    """Size of one image file."""
    max_image_pixels: int = 40_000_000
    """Width times height; the tallest page in the public sets has 9.5 million."""
    max_image_side: int = 16_383
    """Longest side in pixels; lossless WebP, as we store it, allows no more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """Why something was kept out, for the person who uploaded it."""

    file: str
    line: int
    """From 1; 0 where it is not about a line."""
    field: str
    """Path within the record, such as ``messages[1].content``."""
    reason: str
    """What was found and what was expected."""


class RecordInvalid(Exception):
    """A record cannot be learned from; the message is a ``Mistake``'s reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


class PictureInvalid(Exception):
    """An image cannot be used; the message says what was found and expected."""


class UploadInvalid(Exception):
    """Nothing of the upload can be used; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message with its pictures in place."""

    role: str
    """``system``, ``user`` or ``assistant``."""
    parts: Sequence[str | int]
    """Text, or the number of an image in the conversation's ``images``."""
    is_learned: bool = False
    """Whether its author wants it to be learned; only ever an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A record of any format, in ours."""

    messages: Sequence[Message]
    images: Sequence[str]
    """Paths as the record has them, or ``data:`` URIs."""
    image_fields: Sequence[str]
    """Where each of them stands in the record."""


@dataclass(kw_only=True, slots=True)
class ImportReport:
    """How an import stands; a row is one answer with the history before it."""

    num_read: int = 0
    num_kept: int = 0
    num_rejected: int = 0
    mistakes: list[Mistake] = field(default_factory=list)
    """The first hundred."""

    max_mistakes: int = 100

    def note(self, mistake: Mistake) -> None:
        """Keep a mistake, if there is room."""
        if len(self.mistakes) < self.max_mistakes:
            self.mistakes.append(mistake)

    def reject(self, mistake: Mistake) -> None:
        """Count a record that was kept out; it counts as one row, whatever it held."""
        self.num_read += 1
        self.num_rejected += 1
        self.note(mistake)

    def keep(self, num_rows: int) -> None:
        """Count the rows of a record that went in."""
        self.num_read += num_rows
        self.num_kept += num_rows


def shown(value: object, *, length: int = 60) -> str:
    """Return a value as a reason may quote it: short, in one line, printable."""
    text = ascii(value) if isinstance(value, bytes) else repr(value)
    return text if len(text) <= length else f"{text[: length - 1]}…"
