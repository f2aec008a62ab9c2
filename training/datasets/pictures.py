"""Turns the bytes of an uploaded image into RGB pixels, or says why it will not do."""

import base64
import binascii
import io
import struct
import warnings

from PIL import Image, UnidentifiedImageError

from training.datasets.types import Limits, PictureInvalid, shown

FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF")
"""Others that Pillow reads are rarely meant, and some call other programs."""
DAMAGED = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error)
"""What Pillow's readers trip over in damaged files; not all of it is wrapped."""
LFS_POINTER = b"version https://git-lfs"


def decode_picture(data: bytes, *, limits: Limits) -> Image.Image:
    """Decode an image file to RGB; of an animation, its first picture.

    Raises:
        PictureInvalid: If it is no image, damaged, or larger than allowed.
    """
    if not data:
        raise PictureInvalid("the file is empty; expected an image")
    if data.startswith(LFS_POINTER):
        raise PictureInvalid(
            "a Git LFS pointer, not the image itself; fetch it by `git lfs pull`"
        )
    if len(data) > limits.max_image_bytes:
        raise PictureInvalid(
            f"{len(data):,} bytes, more than the {limits.max_image_bytes:,} of one image"
        )
    try:
        with warnings.catch_warnings():
            # Pillow only warns of what our own limit refuses below.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                _check_size(image, limits)
                image.verify()
            # verify() leaves an image that cannot be used any more.
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                return image.convert("RGB")
    except UnidentifiedImageError as error:
        raise PictureInvalid(
            f"not an image: it begins with {shown(data[:12])}; "
            f"expected one of {', '.join(FORMATS)}"
        ) from error
    except Image.DecompressionBombError as error:
        raise PictureInvalid(
            f"more pixels than the {limits.max_image_pixels:,} of one image"
        ) from error
    except DAMAGED as error:
        raise PictureInvalid(f"the image is damaged: {error}") from error


def _check_size(image: Image.Image, limits: Limits) -> None:
    width, height = image.size
    if width * height > limits.max_image_pixels:
        raise PictureInvalid(
            f"{width} x {height} pixels, more than the "
            f"{limits.max_image_pixels:,} of one image"
        )
    if max(width, height) > limits.max_image_side:
        raise PictureInvalid(
            f"{width} x {height} pixels; no side may have more than "
            f"{limits.max_image_side:,}"
        )


def decode_data_uri(uri: str) -> bytes:
    """Return the bytes of ``data:image/png;base64,…``.

    Raises:
        PictureInvalid: If it is not of that form.
    """
    head, comma, body = uri.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise PictureInvalid(
            f"expected data:image/…;base64,…, found {shown(head, length=40)}"
        )
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise PictureInvalid(f"the base64 of the image is damaged: {error}") from error
