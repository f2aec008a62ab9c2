"""Data sets: taken in from an upload, imported once, however often that is asked."""

import fcntl
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from studio.common.frames import frame_save
from training.datasets.formats import hf_messages
from training.datasets.importing import import_upload, read_rows
from training.datasets.rows import Row
from training.datasets.types import ImportReport, Limits, UploadInvalid
from training.errors import FilesMissing, InvalidTransition
from training.models import Dataset
from training.services import messages
from training.services.commits import after_commit
from training.services.files import storage
from training.services.uploads import (
    upload_check,
    upload_discard,
    upload_find,
    upload_keep,
)
from training.states import DATASET_MOVES, DATASET_OVER, DatasetStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

PROGRESS_EVERY_S: Final = 0.5
LEFT_AFTER: Final = timedelta(seconds=60)
"""An upload that waits for longer lost its message, or its worker."""
LOCK_FILE: Final = ".import.lock"


def dataset_create_from_upload(
    *,
    owner: "User",
    name: str,
    rows_file: "UploadedFile[Any]",
    images_zip: "UploadedFile[Any] | None" = None,
) -> Dataset:
    """Keep an upload and have it imported.

    Args:
        owner: Who may see it.
        name: For people.
        rows_file: Records as a JSON list or as JSON lines.
        images_zip: The pictures that they name.

    Raises:
        UploadTooLarge: If the files are larger than the studio takes.
        ValidationError: If the name is missing or too long.
    """
    upload_check(sum(file.size or 0 for file in (rows_file, images_zip) if file))
    dataset = Dataset(owner=owner, name=name, source_format=hf_messages.NAME)
    folder = storage().dataset(dataset.pk)
    dataset.path = storage().relative(folder)
    dataset.full_clean()
    try:
        upload_keep(folder, rows_file=rows_file, images_zip=images_zip)
        with transaction.atomic():
            dataset.save()
            after_commit(messages.send_import_dataset, dataset.pk)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return dataset


def dataset_import(*, dataset_id: UUID) -> None:
    """Import an upload, and leave the data set ready or rejected.

    Asked twice at the same time, the second does nothing; asked again after a worker
    died in it, it begins anew.

    Raises:
        Dataset.DoesNotExist: If there is no such data set.
        Exception: Whatever broke, once the data set says so.
    """
    dataset = Dataset.objects.get(pk=dataset_id)
    folder = storage().absolute(dataset.path)
    with _locked(folder) as is_mine:
        # Read again: whoever had the lock before may have done it all.
        dataset.refresh_from_db()
        if not is_mine or dataset.status in DATASET_OVER:
            return
        _move(dataset, DatasetStatus.CHECKING)
        try:
            _import(dataset, folder)
        except UploadInvalid as error:
            _move(dataset, DatasetStatus.REJECTED, reason=str(error))
        except Exception:
            reason = "Internal error; the log has the details"
            _move(dataset, DatasetStatus.REJECTED, reason=reason)
            raise
        finally:
            if dataset.status in DATASET_OVER:
                upload_discard(folder)


def dataset_rows(*, dataset: Dataset, start: int, count: int) -> list[Row]:
    """Return some rows of a data set.

    Raises:
        FilesMissing: If it has none (yet).
    """
    try:
        return list(
            read_rows(storage().absolute(dataset.path), start=start, count=count)
        )
    except OSError as error:
        raise FilesMissing(f"data set {dataset.name} has no rows (yet)") from error


def datasets_import_left() -> None:
    """Ask again for the imports whose message or worker was lost."""
    left = Dataset.objects.exclude(status__in=DATASET_OVER).filter(
        created_at__lt=timezone.now() - LEFT_AFTER
    )
    for dataset_id in left.values_list("pk", flat=True):
        messages.send_import_dataset(dataset_id)


def _import(dataset: Dataset, folder: Path) -> None:
    upload = upload_find(folder)
    if upload is None:
        raise UploadInvalid("the uploaded files are gone; upload them again")
    report = import_upload(
        upload,
        folder=folder,
        keep_picture=partial(frame_save, storage().root),
        limits=Limits(),
        on_progress=_Progress(dataset),
    )
    _count(dataset, report)
    if not report.num_kept:
        raise UploadInvalid(_why_nothing(report))
    _move(dataset, DatasetStatus.READY)
    logger.info(
        "data set imported",
        extra={"dataset_id": str(dataset.pk), "num_kept": report.num_kept},
    )


class _Progress:
    """Writes the counts down now and then, so that a page can show them."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._next_at = 0.0

    def __call__(self, report: ImportReport) -> None:
        if time.monotonic() < self._next_at:
            return
        if self._dataset.status == DatasetStatus.CHECKING:
            _move(self._dataset, DatasetStatus.IMPORTING)
        _count(self._dataset, report)
        self._next_at = time.monotonic() + PROGRESS_EVERY_S


def _count(dataset: Dataset, report: ImportReport) -> None:
    dataset.num_read = report.num_read
    dataset.num_kept = report.num_kept
    dataset.num_rejected = report.num_rejected
    dataset.errors = [asdict(mistake) for mistake in report.mistakes]
    dataset.save(update_fields=["num_read", "num_kept", "num_rejected", "errors"])


def _move(dataset: Dataset, to: DatasetStatus, *, reason: str = "") -> None:
    """Move an import; the lock makes this process its only writer."""
    old = DatasetStatus(dataset.status)
    if to not in DATASET_MOVES[old]:
        raise InvalidTransition(f"a data set that is {old} cannot become {to}")
    dataset.status = to
    dataset.reason = reason
    dataset.save(update_fields=["status", "reason"])


def _why_nothing(report: ImportReport) -> str:
    if not report.mistakes:
        return "the file has no records; expected a JSON list or JSON lines"
    first = report.mistakes[0]
    where = f"line {first.line}" if first.line else first.field
    field = f", {first.field}" if first.line and first.field else ""
    return f"no record could be used; the first ({where}{field}): {first.reason}"


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Yield whether this is the only import of the folder; a dead process frees it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
