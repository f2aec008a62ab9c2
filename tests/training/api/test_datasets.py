import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile

from tests.factories import DatasetFactory
from tests.training.datasets.helpers import one_turn, picture, write_zip
from training.models import Dataset
from training.services.datasets import dataset_import
from training.states import DatasetStatus

DATASETS = "/api/v1/datasets/"


def rows_file(records, name="rows.json"):
    return SimpleUploadedFile(name, json.dumps(records).encode())


@pytest.fixture
def upload(api, media, tmp_path, monkeypatch):
    """Upload records and pictures; what is asked of the manager is noted."""
    asked = []
    monkeypatch.setattr("training.services.messages.send_import_dataset", asked.append)

    def send(records, files=None, **more):
        body = {"name": "demo", "rows": rows_file(records)} | more
        if files is not None:
            path = write_zip(tmp_path / "images.zip", files)
            body["images"] = SimpleUploadedFile("images.zip", path.read_bytes())
        response = api.post(DATASETS, body, format="multipart")
        response.asked = asked
        return response

    return send


def test_an_upload_is_kept_and_its_import_asked_for(
    upload, media, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        response = upload([one_turn()], {"a.png": picture()})

    assert response.status_code == 201
    assert response.data["status"] == DatasetStatus.UPLOADED
    dataset = Dataset.objects.get()
    assert response.asked == [dataset.pk]
    assert (media / dataset.path / "upload/rows/rows.json").exists()
    assert (media / dataset.path / "upload/images/images.zip").exists()


def test_after_the_import_the_counts_and_the_mistakes_can_be_read(api, upload):
    response = upload([one_turn(), one_turn(images=("b.png",))], {"a.png": picture()})

    dataset_import(dataset_id=response.data["id"])

    answer = api.get(f"{DATASETS}{response.data['id']}/").data
    assert answer["status"] == DatasetStatus.READY
    assert (answer["num_read"], answer["num_kept"], answer["num_rejected"]) == (2, 1, 1)
    assert answer["errors"] == [
        {
            "file": "rows.json",
            "line": 1,
            "field": "images[0]",
            "reason": "'b.png' is not in images.zip",
        }
    ]


def test_rows_can_be_looked_at(api, upload):
    records = [one_turn(text=str(n), images=()) for n in range(5)]
    response = upload(records)
    address = f"{DATASETS}{response.data['id']}/rows/"

    before = api.get(address)
    dataset_import(dataset_id=response.data["id"])
    rows = api.get(address, {"start": 3, "limit": 5}).data["rows"]

    assert before.status_code == 404
    assert [row["messages"][0]["content"] for row in rows] == ["3", "4"]
    assert api.get(address, {"limit": 0}).status_code == 400


@pytest.mark.parametrize(
    ("missing", "path"), [({"name": ""}, "name"), ({"rows": ""}, "rows")]
)
def test_an_upload_needs_a_name_and_rows(upload, missing, path):
    response = upload([one_turn()], **missing)

    assert response.status_code == 400
    assert list(response.data["errors"]) == [path]


def test_a_large_upload_is_refused_by_its_limit(upload, settings, media):
    settings.MAX_UPLOAD_BYTES = 100

    response = upload([one_turn("x" * 200, ())])

    assert response.status_code == 413
    assert response.data["code"] == "training.upload_too_large"
    assert "more than the 100 allowed" in response.data["detail"]
    assert "OCHE_MAX_UPLOAD_MB" in response.data["detail"]
    assert not Dataset.objects.exists()
    assert not (media / "datasets").exists()


def test_a_large_upload_goes_by_disk_and_is_moved_not_copied(
    upload, settings, media, monkeypatch
):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10
    settings.FILE_UPLOAD_TEMP_DIR = media
    monkeypatch.setattr(TemporaryUploadedFile, "chunks", None)

    response = upload([one_turn(images=())])

    assert response.status_code == 201
    folder = media / "datasets" / response.data["id"] / "upload"
    assert json.loads((folder / "rows/rows.json").read_text()) == [one_turn(images=())]


def test_names_of_uploaded_files_cannot_leave_the_folder(api, upload, media):
    response = upload([], rows=rows_file([one_turn("x", ())], "../../../evil.json"))

    folder = media / "datasets" / response.data["id"] / "upload" / "rows"
    assert [path.name for path in folder.iterdir()] == ["evil.json"]


def test_json_is_no_upload(api):
    response = api.post(DATASETS, {"name": "x"}, format="json")

    assert response.status_code == 415


def test_a_strangers_data_set_does_not_exist(api, mallory):
    dataset = DatasetFactory(owner=mallory)

    assert api.get(f"{DATASETS}{dataset.pk}/").status_code == 404
    assert api.get(f"{DATASETS}{dataset.pk}/rows/").status_code == 404
    assert api.get(DATASETS).data["count"] == 0


def test_a_list_has_no_mistakes_in_it(api, alice):
    DatasetFactory(owner=alice)

    (row,) = api.get(DATASETS, {"status": "ready"}).data["results"]

    assert "errors" not in row


def test_a_long_name_in_letters_of_several_bytes_fits_the_file_system(upload, media):
    response = upload([], rows=rows_file([one_turn()], name="行" * 120 + ".jsonl"))

    assert response.status_code == 201
    (kept,) = (media / Dataset.objects.get().path / "upload/rows").iterdir()
    # 200 bytes: 6 of the suffix, 64 letters of 3; the two bytes left are no letter.
    assert kept.name == "行" * 64 + ".jsonl"
