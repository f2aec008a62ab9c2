"""Pictures on disk, each kept once under the hash of its pixels; knows no Django."""

import hashlib
import os
import uuid
from pathlib import Path

from PIL import Image

MAX_PIXELS = 64_000_000
"""Larger pictures are refused before they are decoded."""


class FrameMissing(Exception):
    """No picture is kept under the hash, or the file is damaged."""


def frame_digest(picture: Image.Image) -> str:
    """Return the SHA-256 of size and RGB pixels; known before anything is encoded."""
    width, height = picture.size
    digest = hashlib.sha256(f"{width}x{height}:".encode())
    digest.update(picture.convert("RGB").tobytes())
    return digest.hexdigest()


def frame_path(media_root: Path, sha256: str) -> Path:
    """Return where a picture is, or would be.

    Raises:
        FrameMissing: If that is no hash; it may come from a file or an address.
    """
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise FrameMissing(f"expected a SHA-256 in hexadecimal, got {sha256[:80]!r}")
    return media_root / "frames" / sha256[:2] / f"{sha256}.webp"


def frame_save(media_root: Path, picture: Image.Image) -> str:
    """Keep a picture, lossless, unless it is there already; returns its hash."""
    sha256 = frame_digest(picture)
    path = frame_path(media_root, sha256)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Aside first: two workers may keep the same picture at the same time.
        aside = path.with_suffix(f".{os.getpid()}-{uuid.uuid4().hex[:8]}")
        picture.convert("RGB").save(
            aside, format="WEBP", lossless=True, quality=0, method=1
        )
        aside.rename(path)
    return sha256


def frame_load(media_root: Path, sha256: str) -> Image.Image:
    """Return a picture, RGB, decoded.

    Raises:
        FrameMissing: If it is not there or cannot be decoded.
    """
    try:
        with Image.open(frame_path(media_root, sha256)) as picture:
            return picture.convert("RGB")
    except (OSError, ValueError) as error:
        raise FrameMissing(f"no picture {sha256[:12]}…: {error}") from error
