"""Small uploads, made by hand."""

import io
import json
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from studio.common.frames import frame_save
from training.datasets.importing import ImportReport, Upload, import_upload
from training.datasets.types import Limits

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
RED = (255, 0, 0)


def picture(
    width: int = 4,
    height: int = 2,
    *,
    color: tuple[int, ...] = RED,
    format: str = "PNG",
) -> bytes:
    """Return an image file of one colour."""
    out = io.BytesIO()
    mode = "RGBA" if len(color) == 4 else "RGB"
    Image.new(mode, (width, height), color).save(out, format=format)
    return out.getvalue()


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write a zip of these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def one_turn(text: str = "<image>Where?", images: Any = ("a.png",)) -> dict[str, Any]:
    """Return a record of one question and one answer."""
    return {
        "messages": [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "<|click|><x1><y2>"},
        ],
        "images": list(images) if isinstance(images, tuple) else images,
    }


class Desk:
    """A folder to import in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self,
        records: Any,
        files: Mapping[str, bytes] | None = None,
        *,
        limits: Limits | None = None,
    ) -> ImportReport:
        """Import records (bytes as they are, anything else as a JSON list)."""
        rows = self.folder / "rows.json"
        data = records if isinstance(records, bytes) else json.dumps(records).encode()
        rows.write_bytes(data)
        images = None
        if files is not None:
            images = write_zip(self.folder / "images.zip", files)
        return self.run_files(rows, images, limits=limits)

    def run_files(
        self, rows: Path, images: Path | None, *, limits: Limits | None = None
    ) -> ImportReport:
        """Import files that are there already."""
        return import_upload(
            Upload(rows=rows, images=images),
            folder=self.folder,
            keep_picture=partial(frame_save, self.folder),
            limits=limits or Limits(),
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return what was written."""
        lines = (self.folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def reason(self, records: Any, files: Mapping[str, bytes] | None = None) -> str:
        """Import records of which one is bad, and return ``field: reason``."""
        report = self.run(records, files)
        (mistake,) = report.mistakes
        assert report.num_rejected == 1
        return f"{mistake.field}: {mistake.reason}"
