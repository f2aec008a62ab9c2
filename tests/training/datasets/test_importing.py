import base64
import dataclasses
import json

import pytest

from tests.training.datasets.helpers import SHARED, one_turn, picture, write_zip
from training.datasets.importing import read_rows
from training.datasets.types import Limits, UploadInvalid

QUESTION = [{"type": "image"}, {"type": "text", "text": "Where?"}]
ANSWER = {"role": "assistant", "content": "<|click|><x1><y2>"}


def test_a_record_becomes_a_row_with_its_picture_under_its_hash(desk):
    report = desk.run([one_turn()], {"a.png": picture()})

    assert (report.num_read, report.num_kept, report.num_rejected) == (1, 1, 0)
    (row,) = desk.rows
    assert row["messages"] == [{"role": "user", "content": QUESTION}, ANSWER]
    (sha256,) = row["images"]
    assert (desk.folder / "frames" / sha256[:2] / f"{sha256}.webp").exists()


def test_each_answer_is_a_row_with_the_history_before_it(desk):
    record = {
        "messages": [
            {"role": "user", "content": "<image>a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c<image>"},
            {"role": "assistant", "content": "d"},
            {"role": "user", "content": "e"},
        ],
        "images": ["1.png", "2.png"],
    }
    files = {"1.png": picture(), "2.png": picture(color=(0, 0, 255))}

    report = desk.run([record], files)

    assert report.num_kept == 2
    first, second = desk.rows
    assert [message["content"] for message in first["messages"][1:]] == ["b"]
    assert len(first["images"]) == 1
    assert [message["role"] for message in second["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert len(set(second["images"])) == 2
    assert second["images"][0] == first["images"][0]


def test_one_bad_record_is_kept_out_and_the_others_go_in(desk):
    lines = b"\n".join(
        [
            json.dumps(one_turn()).encode(),
            b"",
            b"not json",
            json.dumps(one_turn(images=("missing.png",))).encode(),
            json.dumps(one_turn()).encode(),
        ]
    )

    report = desk.run(lines, {"a.png": picture()})

    assert (report.num_read, report.num_kept, report.num_rejected) == (4, 2, 2)
    not_json, missing = report.mistakes
    assert (not_json.file, not_json.line, not_json.field) == ("rows.json", 3, "")
    assert (missing.line, missing.field) == (4, "images[0]")
    assert missing.reason == "'missing.png' is not in images.zip"


def test_only_the_first_hundred_mistakes_are_kept_but_all_are_counted(desk):
    report = desk.run([{}] * 150)

    assert report.num_rejected == 150
    assert len(report.mistakes) == 100


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (None, "but no zip of images was sent"),
        ({"b.png": picture()}, "'a.png' is not in images.zip"),
        ({"a.png": b"text"}, "a.png: not an image"),
        ({"a.png": b""}, "a.png: the file is empty"),
        ({"a.png": b"version https://git-lfs.github.com/spec/v1\n"}, "Git LFS pointer"),
    ],
)
def test_a_record_whose_picture_cannot_be_used_says_why(desk, files, reason):
    assert reason in desk.reason([one_turn()], files)


@pytest.mark.parametrize(
    "path", ["../a.png", "/a.png", "x/../../a.png", "http://h/a.png"]
)
def test_a_record_cannot_point_out_of_the_archive(desk, path):
    assert desk.reason([one_turn(images=(path,))], {"a.png": picture()}).startswith(
        "images[0]: "
    )


def test_unsafe_names_in_the_archive_are_reported_though_no_record_wants_them(desk):
    report = desk.run([one_turn()], {"a.png": picture(), "../evil.png": picture()})

    (mistake,) = report.mistakes
    assert (mistake.file, mistake.line, mistake.field) == (
        "images.zip",
        0,
        "../evil.png",
    )
    assert (report.num_kept, report.num_rejected) == (1, 0)
    assert not (desk.folder.parent / "evil.png").exists()


def test_a_bad_archive_leaves_room_for_the_mistakes_of_records(desk):
    files = {f"../{n}.png": b"" for n in range(150)}

    report = desk.run([{}] * 5, files)

    assert [mistake.line for mistake in report.mistakes] == [0] * 20 + [1] * 5


def test_a_bomb_among_the_pictures_ends_nothing_else(desk):
    files = {"a.png": picture(), "bomb.png": b"\0" * 2**21}

    report = desk.run([one_turn(), one_turn(images=("bomb.png",))], files)

    assert (report.num_kept, report.num_rejected) == (1, 1)


def test_an_archive_that_is_none_ends_the_import_and_leaves_no_rows(desk):
    rows = desk.folder / "rows.json"
    rows.write_text(json.dumps([one_turn()]))
    zip_path = desk.folder / "images.zip"
    zip_path.write_bytes(b"not a zip")

    with pytest.raises(UploadInvalid):
        desk.run_files(rows, zip_path)

    assert not (desk.folder / "rows.jsonl").exists()


def test_a_picture_is_decoded_once_however_many_records_want_it(desk, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "tests.training.datasets.helpers.frame_save",
        lambda folder, image: calls.append(1) or "0" * 64,
    )

    desk.run([one_turn(), one_turn(), one_turn()], {"a.png": picture()})

    assert len(calls) == 1


def test_a_picture_within_the_record_needs_no_archive(desk):
    uri = "data:image/png;base64," + base64.b64encode(picture()).decode()
    record = one_turn([{"type": "image_url", "image_url": {"url": uri}}], images=())

    report = desk.run([record])

    assert report.num_kept == 1


def test_records_larger_than_allowed_are_kept_out(desk):
    limits = dataclasses.replace(Limits(), max_record_bytes=400)

    report = desk.run([one_turn("x" * 500, ()), one_turn("x", ())], limits=limits)

    assert (report.num_kept, report.num_rejected) == (1, 1)
    assert "larger than the 400 bytes" in report.mistakes[0].reason


def test_importing_again_gives_the_same_rows(desk):
    files = {"a.png": picture()}
    desk.run([one_turn()], files)
    first = desk.rows

    desk.run([one_turn()], files)

    assert desk.rows == first


def test_rows_are_read_from_the_middle(desk):
    desk.run([one_turn(text=str(n), images=()) for n in range(5)])

    rows = list(read_rows(desk.folder, start=1, count=2))

    assert [row["messages"][0]["content"] for row in rows] == ["1", "2"]


def test_llama_factorys_multimodal_demo_goes_in_whole(desk):
    folder = SHARED / "llamafactory"
    files = {
        f"mllm_demo_data/{path.name}": path.read_bytes()
        for path in (folder / "mllm_demo_data").iterdir()
    }
    images = write_zip(desk.folder / "images.zip", files)

    report = desk.run_files(folder / "mllm_demo.json", images)

    # Six conversations of two answers each; the demo names one picture twice.
    assert (report.num_read, report.num_kept, report.num_rejected) == (12, 12, 0)
    assert desk.rows[0]["messages"][-1]["content"] == (
        "They're Kane and Gretzka from Bayern Munich."
    )
    assert desk.rows[1]["messages"][2]["content"] == [
        {"type": "text", "text": "What are they doing?"},
        {"type": "image"},
    ]
    assert len({sha for row in desk.rows for sha in row["images"]}) == 3


def test_qwens_single_images_go_in_though_the_zip_lacks_a_folder(desk):
    folder = SHARED / "qwen_vl_finetune"
    files = {
        f"images/{path.name}": path.read_bytes()
        for path in (folder / "images").iterdir()
    }
    images = write_zip(desk.folder / "images.zip", files)

    report = desk.run_files(folder / "single_images.json", images)

    assert (report.num_read, report.num_kept) == (3, 3)
    assert desk.rows[0]["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Is the value of Favorable 38 in 2015?\n"},
                {"type": "image"},
            ],
        },
        {"role": "assistant", "content": "Yes"},
    ]


def test_qwens_videos_are_kept_out_by_name(desk):
    report = desk.run_files(SHARED / "qwen_vl_finetune" / "video.json", None)

    assert report.num_kept == 0
    assert [mistake.line for mistake in report.mistakes] == [2, 15, 28]
    assert {mistake.field for mistake in report.mistakes} == {"video"}


def test_what_a_row_says_is_what_an_sft_run_reads(desk):
    desk.run([one_turn()], {"a.png": picture()})

    (line,) = (desk.folder / "rows.jsonl").read_text().splitlines()

    row = json.loads(line)
    *before, last = row["messages"]
    placeholders = sum(
        part["type"] == "image" for message in before for part in message["content"]
    )
    assert placeholders == len(row["images"]) == 1
    assert last == ANSWER
