import base64
import dataclasses
import io
import struct
import zlib

import pytest
from PIL import Image

from tests.training.datasets.helpers import picture
from training.datasets.pictures import decode_data_uri, decode_picture
from training.datasets.types import Limits, PictureInvalid

LIMITS = Limits()


def refusal(data: bytes, **limits: int) -> str:
    with pytest.raises(PictureInvalid) as caught:
        decode_picture(data, limits=dataclasses.replace(LIMITS, **limits))
    return str(caught.value)


def png_claiming(width: int, height: int) -> bytes:
    """Return a small PNG whose header claims another size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    crc = struct.pack(">I", zlib.crc32(chunk))
    data = picture()
    return data[:8] + struct.pack(">I", 13) + chunk + crc + data[33:]


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "BMP", "GIF"])
def test_the_usual_formats_become_rgb(format):
    image = decode_picture(picture(5, 3, format=format), limits=LIMITS)

    assert (image.mode, image.size) == ("RGB", (5, 3))


def test_transparency_is_dropped_and_the_colour_stays():
    image = decode_picture(picture(color=(10, 20, 30, 128)), limits=LIMITS)

    assert image.getpixel((0, 0)) == (10, 20, 30)


def test_text_is_no_image():
    assert "not an image: it begins with b'hello'" in refusal(b"hello")


def test_an_empty_file_is_no_image():
    assert "empty" in refusal(b"")


def test_a_git_lfs_pointer_is_named_as_such():
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"

    assert "Git LFS pointer" in refusal(pointer)


def test_formats_that_would_call_other_programs_are_refused():
    out = io.BytesIO()
    Image.new("RGB", (2, 2)).save(out, format="EPS")

    assert "not an image" in refusal(out.getvalue())


def test_a_picture_that_is_cut_off_is_damaged():
    noise = Image.effect_noise((64, 64), 100)
    out = io.BytesIO()
    noise.save(out, format="JPEG")

    assert "damaged" in refusal(out.getvalue()[:400])


def test_too_many_pixels_are_refused_before_they_are_decoded():
    assert "4 x 2 pixels, more than the 7 of one image" in refusal(
        picture(), max_image_pixels=7
    )


def test_a_side_that_could_not_be_kept_is_refused():
    assert "no side may have more than 3" in refusal(picture(), max_image_side=3)


@pytest.mark.parametrize("side", [12_000, 60_000])
def test_a_decompression_bomb_is_refused_by_its_header(side, recwarn):
    reason = refusal(png_claiming(side, side))

    assert "more" in reason
    assert "40,000,000 of one image" in reason
    assert not recwarn.list


def test_an_image_file_that_is_too_large_is_refused():
    assert "more than the 10 of one image" in refusal(picture(), max_image_bytes=10)


def test_a_data_uri_holds_the_bytes_themselves():
    data = picture()
    uri = "data:image/png;base64," + base64.b64encode(data).decode()

    assert decode_data_uri(uri) == data


@pytest.mark.parametrize(
    "uri",
    ["data:text/html;base64,AAAA", "data:image/png,raw", "data:image/png;base64,@@"],
)
def test_other_data_uris_are_refused(uri):
    with pytest.raises(PictureInvalid):
        decode_data_uri(uri)


def test_a_chunk_that_is_too_short_is_damage_of_that_picture_alone():
    # Chunks behind the pixels are read when Pillow loads them, out of its own care.
    chunk = b"iCCP"
    crc = struct.pack(">I", zlib.crc32(chunk))
    data = picture()
    broken = data[:-12] + struct.pack(">I", 0) + chunk + crc + data[-12:]

    assert "the image is damaged" in refusal(broken)
