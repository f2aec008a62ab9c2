import dataclasses
import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from tests.training.datasets.helpers import picture, write_zip
from training.datasets.archive import ImageArchive
from training.datasets.types import Limits, PictureInvalid, UploadInvalid

LIMITS = Limits()


def opened(path: Path, **limits: int) -> ImageArchive:
    return ImageArchive(path, limits=dataclasses.replace(LIMITS, **limits))


def refusal(archive: ImageArchive, path: str) -> str:
    with pytest.raises(PictureInvalid) as caught:
        archive.read(archive.find(path))
    return str(caught.value)


@pytest.fixture
def zip_path(tmp_path: Path) -> Path:
    return tmp_path / "images.zip"


def test_a_file_is_found_by_its_whole_path(zip_path):
    archive = opened(write_zip(zip_path, {"x/a.png": b"1", "y/a.png": b"2"}))

    assert archive.read(archive.find("x/a.png")) == b"1"
    assert archive.read(archive.find("./y/a.png")) == b"2"
    assert archive.read(archive.find("y\\a.png")) == b"2"


def test_folders_before_the_path_may_be_missing_on_either_side(zip_path):
    archive = opened(write_zip(zip_path, {"top/images/a.png": b"1", "b.png": b"2"}))

    assert archive.find("images/a.png") == "top/images/a.png"
    assert archive.find("a.png") == "top/images/a.png"
    assert archive.find("demo/images/b.png") == "b.png"


def test_another_folder_is_another_file(zip_path):
    archive = opened(write_zip(zip_path, {"x/a.png": b"1"}))

    assert "'y/a.png' is not in images.zip" in refusal(archive, "y/a.png")


def test_a_name_is_not_found_by_its_end(zip_path):
    archive = opened(write_zip(zip_path, {"banana.png": b"1"}))

    assert "not in images.zip" in refusal(archive, "ana.png")


def test_a_path_that_fits_several_files_is_not_guessed(zip_path):
    archive = opened(write_zip(zip_path, {"x/a.png": b"1", "y/a.png": b"2"}))

    assert "may be any of 2 files" in refusal(archive, "a.png")


def test_a_file_that_is_not_there_is_named(zip_path):
    archive = opened(write_zip(zip_path, {"a.png": b"1"}))

    assert refusal(archive, "b.png") == "'b.png' is not in images.zip"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../a.png", "leaves its folder"),
        ("x/../../a.png", "leaves its folder"),
        ("..\\a.png", "leaves its folder"),
        ("/etc/a.png", "absolute path"),
        ("C:\\a.png", "absolute path"),
    ],
)
def test_names_that_lead_out_of_the_archive_are_refused(zip_path, name, reason):
    archive = opened(write_zip(zip_path, {name: picture(), "b.png": picture()}))

    assert reason in refusal(archive, name)
    assert reason in refusal(archive, "a.png")
    assert [mistake.reason for mistake in archive.mistakes if reason in mistake.reason]
    assert archive.read(archive.find("b.png")) == picture()


def test_a_record_may_not_name_an_address(zip_path):
    archive = opened(write_zip(zip_path, {"a.png": picture()}))

    assert "nothing is fetched" in refusal(archive, "https://host/a.png")


def test_a_symbolic_link_is_not_followed(zip_path):
    link = zipfile.ZipInfo("a.png")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(zip_path, "w") as archive:
        archive.writestr(link, "/etc/passwd")

    assert "symbolic link" in refusal(opened(zip_path), "a.png")


def test_a_name_that_is_there_twice_means_neither(zip_path):
    with warnings.catch_warnings(), zipfile.ZipFile(zip_path, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("a.png", b"1")
        archive.writestr("a.png", b"2")
        archive.writestr("./b.png", b"1")
        archive.writestr("b.png", b"2")

    found = opened(zip_path)

    assert "twice" in refusal(found, "a.png")
    assert "twice" in refusal(found, "b.png")


def test_a_file_that_unpacks_too_far_is_a_bomb(zip_path):
    archive = opened(write_zip(zip_path, {"a.png": b"\0" * 2**21}))

    assert "a zip bomb" in refusal(archive, "a.png")
    assert archive.mistakes[0].field == "a.png"


def test_small_files_may_be_packed_as_well_as_they_can(zip_path):
    archive = opened(write_zip(zip_path, {"a.bmp": b"\0" * 2**20}))

    assert len(archive.read(archive.find("a.bmp"))) == 2**20


def test_an_archive_that_unpacks_to_too_much_is_refused_whole(zip_path):
    write_zip(zip_path, {"a": b"1" * 60, "b": b"1" * 60})

    with pytest.raises(UploadInvalid, match="unpacks to 120 bytes, more than the 100"):
        opened(zip_path, max_unpacked_bytes=100)


def test_an_archive_of_too_many_files_is_refused_whole(zip_path):
    write_zip(zip_path, {"a": b"1", "b": b"1", "c": b"1"})

    with pytest.raises(UploadInvalid, match="holds 3 files, more than the 2"):
        opened(zip_path, max_members=2)


def test_a_directory_that_would_fill_the_memory_is_not_read(zip_path, monkeypatch):
    write_zip(zip_path, {f"{n:04}": b"" for n in range(200)})
    monkeypatch.setattr(zipfile, "ZipFile", None)

    with pytest.raises(UploadInvalid, match="has a directory of 10,000 bytes"):
        opened(zip_path, max_members=10)


def test_a_file_that_is_larger_than_an_image_may_be_is_refused(zip_path):
    archive = opened(write_zip(zip_path, {"a.png": b"1" * 60}), max_image_bytes=50)

    assert "60 bytes, more than the 50 of one image" in refusal(archive, "a.png")


def test_a_directory_that_lies_about_a_size_is_found_out(zip_path):
    data = bytes(range(256)) * 8
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.png", data)
    raw = bytearray(zip_path.read_bytes())
    entry = raw.index(b"PK\x01\x02")
    raw[entry + 24 : entry + 28] = struct.pack("<L", 10)
    zip_path.write_bytes(raw)

    assert "damaged" in refusal(opened(zip_path), "a.png")


def test_an_encrypted_file_is_named_as_such(zip_path):
    write_zip(zip_path, {"a.png": b"1"})
    raw = bytearray(zip_path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    zip_path.write_bytes(raw)

    assert "encrypted" in refusal(opened(zip_path), "a.png")


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"PK\x05\x06", b"PK\x05\x06" + b"\xff" * 18]
)
def test_what_is_no_zip_is_refused_whole(zip_path, data):
    zip_path.write_bytes(data)

    with pytest.raises(UploadInvalid, match=r"images\.zip"):
        opened(zip_path)


def test_a_zip_that_is_cut_off_is_refused_whole(zip_path):
    write_zip(zip_path, {"a.png": b"1" * 1000})
    zip_path.write_bytes(zip_path.read_bytes()[:-30])

    with pytest.raises(UploadInvalid):
        opened(zip_path)


def test_what_macos_adds_is_not_looked_at(zip_path):
    archive = opened(
        write_zip(zip_path, {"x/a.png": b"1", "__MACOSX/x/a.png": b"resource fork"})
    )

    assert archive.find("a.png") == "x/a.png"
    assert archive.mistakes == []


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_file_packed_by_a_method_that_unpacks_without_bound_is_refused(
    zip_path, method
):
    with zipfile.ZipFile(zip_path, "w") as out:
        out.writestr("a.png", b"1", compress_type=method)

    assert f"packed by method {method}" in refusal(opened(zip_path), "a.png")
