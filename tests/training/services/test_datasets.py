import fcntl
import json
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from tests.training.datasets.helpers import one_turn, picture, write_zip
from training.errors import InvalidTransition, UploadTooLarge
from training.models import Dataset
from training.services import datasets
from training.services.datasets import (
    dataset_create_from_upload,
    dataset_import,
    datasets_import_left,
)
from training.states import DATASET_MOVES, DATASET_OVER, DatasetStatus


@pytest.fixture
def uploaded(alice, media, tmp_path):
    """Upload records and pictures as alice."""

    def upload(records, files=None):
        rows = records if isinstance(records, bytes) else json.dumps(records).encode()
        images = None
        if files is not None:
            path = write_zip(tmp_path / "images.zip", files)
            images = SimpleUploadedFile("images.zip", path.read_bytes())
        return dataset_create_from_upload(
            owner=alice,
            name="demo",
            rows_file=SimpleUploadedFile("rows.jsonl", rows),
            images_zip=images,
        )

    return upload


def imported(dataset: Dataset) -> Dataset:
    dataset_import(dataset_id=dataset.pk)
    dataset.refresh_from_db()
    return dataset


def test_an_import_ends_ready_with_rows_where_runs_look_for_them(uploaded, media):
    dataset = imported(uploaded([one_turn()], {"a.png": picture()}))

    assert dataset.status == DatasetStatus.READY
    assert (dataset.num_read, dataset.num_kept, dataset.num_rejected) == (1, 1, 0)
    rows = (media / dataset.path / "rows.jsonl").read_text().splitlines()
    (sha256,) = json.loads(rows[0])["images"]
    assert (media / "frames" / sha256[:2] / f"{sha256}.webp").exists()
    assert not (media / dataset.path / "upload").exists()


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([{}], "no record could be used; the first (line 1, messages)"),
        ([], "the file has no records"),
        (b"", "the file has no records"),
        (
            b"PK\x03\x04\xff",
            "no record could be used; the first (line 1): expected UTF-8",
        ),
    ],
)
def test_an_upload_of_which_nothing_can_be_used_is_rejected(uploaded, records, reason):
    dataset = imported(uploaded(records))

    assert dataset.status == DatasetStatus.REJECTED
    assert dataset.reason.startswith(reason)


def test_a_zip_that_is_none_is_rejected_by_its_name(uploaded, alice, media):
    dataset = imported(
        dataset_create_from_upload(
            owner=alice,
            name="demo",
            rows_file=SimpleUploadedFile("rows.json", b"[]"),
            images_zip=SimpleUploadedFile("pictures.zip", b"not a zip"),
        )
    )

    assert dataset.status == DatasetStatus.REJECTED
    assert dataset.reason == "pictures.zip is not a zip archive, or is cut off"


def test_a_message_delivered_twice_imports_once(uploaded, monkeypatch):
    dataset = imported(uploaded([one_turn("Where?", ())]))
    monkeypatch.setattr(datasets, "import_upload", None)

    assert imported(dataset).status == DatasetStatus.READY


def test_while_one_imports_another_does_nothing(uploaded, media):
    dataset = uploaded([one_turn("Where?", ())])

    with (media / dataset.path / ".import.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        dataset_import(dataset_id=dataset.pk)
        dataset.refresh_from_db()
        while_locked = dataset.status

    assert while_locked == DatasetStatus.UPLOADED
    assert imported(dataset).status == DatasetStatus.READY


@pytest.mark.parametrize("status", [DatasetStatus.CHECKING, DatasetStatus.IMPORTING])
def test_an_import_that_died_with_its_worker_begins_anew(uploaded, status):
    dataset = uploaded([one_turn("Where?", ())])
    Dataset.objects.filter(pk=dataset.pk).update(status=status, num_read=99)

    dataset = imported(dataset)

    assert (dataset.status, dataset.num_read) == (DatasetStatus.READY, 1)


def test_imports_that_wait_too_long_are_asked_for_again(uploaded, sent):
    lost, fresh, over = (uploaded([one_turn("Where?", ())]) for _ in range(3))
    imported(over)
    long_ago = timezone.now() - timedelta(minutes=5)
    Dataset.objects.exclude(pk=fresh.pk).update(created_at=long_ago)
    sent.clear()

    datasets_import_left()

    assert sent["import_dataset"] == [lost.pk]


def test_an_upload_whose_files_are_gone_is_rejected(uploaded, media):
    dataset = uploaded([one_turn("Where?", ())])
    datasets.upload_discard(media / dataset.path)

    assert imported(dataset).status == DatasetStatus.REJECTED
    assert "upload them again" in dataset.reason


def test_a_bug_is_shown_to_us_and_not_to_the_user(uploaded, monkeypatch):
    dataset = uploaded([one_turn("Where?", ())])

    def broken(*args, **kwargs):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(datasets, "import_upload", broken)

    with pytest.raises(ZeroDivisionError):
        dataset_import(dataset_id=dataset.pk)
    dataset.refresh_from_db()
    assert dataset.status == DatasetStatus.REJECTED
    assert "secret" not in dataset.reason


def test_progress_can_be_seen_while_the_import_goes_on(uploaded, monkeypatch):
    dataset = uploaded([one_turn("Where?", ())] * 3)
    monkeypatch.setattr(datasets, "PROGRESS_EVERY_S", 0.0)
    seen = []
    count = datasets._count

    def noting(row, report):
        count(row, report)
        seen.append(Dataset.objects.values_list("status", "num_read").get(pk=row.pk))

    monkeypatch.setattr(datasets, "_count", noting)

    imported(dataset)

    assert seen[:3] == [("importing", 1), ("importing", 2), ("importing", 3)]


def test_an_upload_that_is_refused_leaves_nothing_behind(alice, media, settings):
    rows = SimpleUploadedFile("rows.json", b"[]")

    with pytest.raises(ValidationError):
        dataset_create_from_upload(owner=alice, name="", rows_file=rows)
    settings.MAX_UPLOAD_BYTES = 1
    with pytest.raises(UploadTooLarge):
        dataset_create_from_upload(owner=alice, name="x", rows_file=rows)

    assert not Dataset.objects.exists()
    assert not list(media.iterdir())


@pytest.mark.parametrize("old", DatasetStatus)
@pytest.mark.parametrize("new", DatasetStatus)
def test_exactly_the_listed_moves_are_possible(alice, old, new):
    dataset = Dataset.objects.create(owner=alice, name="x", status=old)

    if new in DATASET_MOVES[old]:
        datasets._move(dataset, new)
        assert Dataset.objects.get().status == new
    else:
        with pytest.raises(InvalidTransition):
            datasets._move(dataset, new)


def test_ready_and_rejected_are_where_imports_end():
    assert {DatasetStatus.READY, DatasetStatus.REJECTED} == DATASET_OVER
