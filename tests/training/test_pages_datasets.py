import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from studio.common.frames import frame_save
from tests.factories import DatasetFactory
from tests.training.replays import picture
from training.models import Dataset
from training.pages.datasets import NUM_SAMPLES

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


def text_of(response):
    return re.sub(r"\s+", " ", response.content.decode())


def with_rows(dataset, media, colours):
    """Write one row for each colour; returns the hashes of their pictures."""
    folder = media / "datasets" / str(dataset.pk)
    folder.mkdir(parents=True)
    hashes = [frame_save(media, picture(colour)) for colour in colours]
    rows = [
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "image"},
                        {"type": "text", "text": f"Press {number}."},
                    ],
                },
                {"role": "assistant", "content": f"<|click|><x{number}><y1>"},
            ],
            "images": [sha256],
        }
        for number, sha256 in enumerate(hashes)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "rows.jsonl").write_text(lines)
    dataset.path = f"datasets/{dataset.pk}"
    dataset.save(update_fields=["path"])
    return hashes


def test_a_data_set_shows_its_first_rows_with_picture_and_answer(
    signed_in, alice, media
):
    dataset = DatasetFactory.create(owner=alice, num_read=2, num_kept=2)
    hashes = with_rows(dataset, media, ["white", "yellow"])

    page = text_of(signed_in.get(reverse("training:dataset", args=[dataset.pk])))

    assert "Press 1." in page
    assert "&lt;|click|&gt;&lt;x1&gt;&lt;y1&gt;" in page
    assert f"/datasets/{dataset.pk}/frames/{hashes[0]}.webp" in page


def test_only_pictures_of_the_shown_rows_are_answered(signed_in, alice, media):
    dataset = DatasetFactory.create(owner=alice)
    colours = [f"rgb({number}, 0, 0)" for number in range(NUM_SAMPLES + 1)]
    hashes = with_rows(dataset, media, colours)

    def status(sha256):
        address = reverse("training:dataset-frame", args=[dataset.pk, sha256])
        return signed_in.get(address).status_code

    assert status(hashes[0]) == 200
    assert status(hashes[NUM_SAMPLES]) == 404
    assert status(frame_save(media, picture("blue"))) == 404


def test_a_rejected_row_is_named_by_file_line_field_and_reason(signed_in, alice):
    dataset = DatasetFactory.create(
        owner=alice,
        num_read=2,
        num_kept=1,
        num_rejected=1,
        errors=[
            {"file": "a.jsonl", "line": 118, "field": "images.0", "reason": "not there"}
        ],
    )

    page = text_of(signed_in.get(reverse("training:dataset", args=[dataset.pk])))

    for part in ("a.jsonl", "118", "images.0", "not there", "1 was left out"):
        assert part in page


def test_only_a_ready_data_set_can_be_trained_on(signed_in, alice):
    ready = DatasetFactory.create(owner=alice)
    checking = DatasetFactory.create(owner=alice, status="checking")

    pages = [
        text_of(signed_in.get(reverse("training:dataset", args=[one.pk])))
        for one in (ready, checking)
    ]

    assert f"?preset=sft&amp;dataset={ready.pk}" in pages[0]
    assert "Train on it" not in pages[1]
    assert "data-pulse=" in pages[1]


def test_strangers_see_neither_data_set_nor_its_pictures(client, mallory, alice, media):
    dataset = DatasetFactory.create(owner=alice, name="logins")
    (sha256,) = with_rows(dataset, media, ["white"])
    client.force_login(mallory)

    assert "logins" not in text_of(client.get(reverse("training:datasets")))
    for address in (
        reverse("training:dataset", args=[dataset.pk]),
        reverse("training:dataset-pulse", args=[dataset.pk]),
        reverse("training:dataset-frame", args=[dataset.pk, sha256]),
    ):
        assert client.get(address).status_code == 404


def test_a_visitor_is_led_to_the_sign_in_page(client):
    for name in ("datasets", "dataset-new"):
        assert client.get(reverse(f"training:{name}")).url.startswith("/sign-in/")


def test_an_upload_becomes_a_data_set_named_after_its_file(
    signed_in, alice, media, monkeypatch
):
    monkeypatch.setattr(
        "training.services.messages.send_import_dataset", lambda pk: None
    )
    file = SimpleUploadedFile("my demos.jsonl", b"{}\n")

    response = signed_in.post(reverse("training:dataset-new"), {"rows": file})

    dataset = Dataset.objects.get()
    assert response.url == reverse("training:dataset", args=[dataset.pk])
    assert (dataset.name, dataset.owner) == ("my-demos", alice)


def test_an_upload_without_rows_says_what_is_missing(signed_in):
    response = signed_in.post(reverse("training:dataset-new"), {"name": "x"})

    assert "Choose the file with the rows." in text_of(response)
    assert not Dataset.objects.exists()


def test_an_upload_that_is_too_large_says_so(signed_in, media, settings):
    settings.MAX_UPLOAD_BYTES = 3
    file = SimpleUploadedFile("a.jsonl", b"{}\n{}\n")

    response = signed_in.post(reverse("training:dataset-new"), {"rows": file})

    assert "more than the 3 allowed" in text_of(response)


def test_a_list_without_data_sets_says_what_to_do(signed_in):
    assert "No data set yet" in text_of(signed_in.get(reverse("training:datasets")))
