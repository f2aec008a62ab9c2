"""Files that somebody sent: bounded, under safe names, until they have been read."""

import os
import shutil
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.utils.text import get_valid_filename

from training.datasets.importing import Upload
from training.errors import UploadTooLarge

FOLDER: Final = "upload"
ROWS: Final = "rows"
IMAGES: Final = "images"
MAX_NAME_BYTES: Final = 200
"""Below the 255 of file systems; a letter may take four."""


def upload_check(num_bytes: int) -> None:
    """Refuse what is larger than the studio takes.

    Raises:
        UploadTooLarge: Naming the limit and how to raise it.
    """
    limit = settings.MAX_UPLOAD_BYTES
    if num_bytes > limit:
        raise UploadTooLarge(
            f"the upload has {num_bytes:,} bytes, more than the {limit:,} allowed; "
            "OCHE_MAX_UPLOAD_MB sets the limit"
        )


def upload_keep(
    folder: Path,
    *,
    rows_file: "UploadedFile[Any]",
    images_zip: "UploadedFile[Any] | None",
) -> None:
    """Keep the files in a data set's folder, each under its own name."""
    _keep(rows_file, folder / FOLDER / ROWS, default="rows.json")
    if images_zip is not None:
        _keep(images_zip, folder / FOLDER / IMAGES, default="images.zip")


def upload_find(folder: Path) -> Upload | None:
    """Return what ``upload_keep`` kept; None if it is gone."""
    rows, images = (
        sorted((folder / FOLDER / part).glob("*")) for part in (ROWS, IMAGES)
    )
    if not rows:
        return None
    return Upload(rows=rows[0], images=images[0] if images else None)


def upload_discard(folder: Path) -> None:
    """Delete the files once they have been read."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)


def _keep(file: "UploadedFile[Any]", folder: Path, *, default: str) -> None:
    folder.mkdir(parents=True)
    path = folder / _safe_name(file.name or "", default)
    if isinstance(file, TemporaryUploadedFile):
        # It lies on the same disk: two gigabytes need not be written twice.
        shutil.move(file.temporary_file_path(), path)
        return
    with path.open("wb") as out:
        for chunk in file.chunks():
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())


def _safe_name(name: str, default: str) -> str:
    try:
        safe = get_valid_filename(Path(name.replace("\\", "/")).name)
    except SuspiciousFileOperation:
        return default
    end = safe.lstrip(".").encode(errors="replace")[-MAX_NAME_BYTES:]
    # The cut may fall within a letter.
    return end.decode(errors="ignore") or default
