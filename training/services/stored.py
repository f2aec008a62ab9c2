"""A trajectory's files, for those who want them as they are: record, pictures, all."""

import io
import json
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

from asgiref.sync import sync_to_async

from studio.common.frames import FrameMissing, frame_path
from studio.common.storage import read_json
from training.errors import FilesMissing
from training.models import Trajectory
from training.services.files import storage

RECORD: Final = "trajectory.json"
TOKENS: Final = "tokens.safetensors"
MISSING: Final = "missing.json"
"""Names the pictures that an archive should hold and does not."""


def trajectory_record(trajectory: Trajectory) -> dict[str, Any]:
    """Return ``trajectory.json``.

    Raises:
        FilesMissing: If the trajectory left no files, or they cannot be read.
    """
    try:
        record: dict[str, Any] = read_json(_folder(trajectory) / RECORD)
    except (OSError, ValueError) as error:
        raise FilesMissing(
            f"the files of trajectory {trajectory.pk} cannot be read: {error}"
        ) from error
    return record


def trajectory_frame(trajectory: Trajectory, sha256: str) -> bytes:
    """Return a picture, if the trajectory names it.

    Raises:
        FilesMissing: If it does not, or the picture is gone.
    """
    if sha256 not in _frame_names(trajectory_record(trajectory)):
        raise FilesMissing(f"trajectory {trajectory.pk} names no picture {sha256[:12]}")
    try:
        return frame_path(storage().root, sha256).read_bytes()
    except (OSError, FrameMissing) as error:
        raise FilesMissing(f"picture {sha256[:12]} is gone") from error


def trajectory_archive(trajectory: Trajectory) -> AsyncIterator[bytes]:
    """Return a zip of record, tokens and pictures, made as it is sent.

    Raises:
        FilesMissing: If the trajectory left no files.
    """
    names = sorted(_frame_names(trajectory_record(trajectory)))
    return _zipped(_folder(trajectory), names, storage().root)


async def _zipped(folder: Path, names: list[str], root: Path) -> AsyncIterator[bytes]:
    out = _Outlet()
    missing: list[str] = []
    # Stored, not packed: pictures and floats are as small as they get.
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        files = [(name, folder / name) for name in (RECORD, TOKENS)]
        files += [(f"frames/{sha}.webp", frame_path(root, sha)) for sha in names]
        for name, path in files:
            try:
                await sync_to_async(archive.write)(path, name)
            except FileNotFoundError:
                missing.append(name)
            yield out.take()
        if missing:
            archive.writestr(MISSING, json.dumps(missing))
    yield out.take()


class _Outlet(io.RawIOBase):
    """Where zipfile writes and the response takes from; never more than one file."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held += data
        return len(data)

    def take(self) -> bytes:
        held = bytes(self._held)
        self._held.clear()
        return held


def _folder(trajectory: Trajectory) -> Path:
    if not trajectory.path:
        raise FilesMissing(f"trajectory {trajectory.pk} has no files (yet)")
    return storage().absolute(trajectory.path)


def _frame_names(record: dict[str, Any]) -> frozenset[str]:
    return frozenset(picture["sha256"] for picture in _pictures(record))


def _pictures(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for step in record["steps"]:
        yield step["screen"]
        yield from step["model_images"]
    if final := record.get("final_screen"):
        yield final
