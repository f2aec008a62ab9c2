"""A small upload as people make them: records beside a zip of pictures."""

import io
import json
import zipfile
from typing import Any

from PIL import Image, ImageDraw

COLOURS = ("crimson", "navy", "darkgreen", "goldenrod", "purple", "teal")
SIZE = 160
BIN = 4
"""Pixels of the picture that one column or row of an answer covers."""


def record(colour: str, column: int, row: int, image: str) -> dict[str, Any]:
    """Return a demonstration: where to click on a picture."""
    return {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image"},
                    {"type": "text", "text": f"Click the {colour} square."},
                ],
            },
            {"role": "assistant", "content": f"<|click|><x{column}><y{row}>"},
        ],
        "images": [image],
    }


def picture(colour: str, column: int, row: int) -> bytes:
    """Return a PNG with a square around the middle of a column and row."""
    image = Image.new("RGB", (SIZE, SIZE), "white")
    x, y = (column + 0.5) * BIN, (row + 0.5) * BIN
    ImageDraw.Draw(image).rectangle((x - 8, y - 8, x + 8, y + 8), fill=colour)
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def upload(num_good: int) -> tuple[bytes, bytes]:
    """Return the records, the third of which names no picture of the zip, and the zip."""
    records = []
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as pictures:
        for index in range(num_good):
            colour = COLOURS[index % len(COLOURS)]
            column, row = 5 + index, 34 - index
            name = f"screens/{index:04}.png"
            pictures.writestr(name, picture(colour, column, row))
            records.append(record(colour, column, row, name))
    records.insert(2, record("pink", 1, 1, "screens/lost.png"))
    lines = "".join(json.dumps(one) + "\n" for one in records)
    return lines.encode(), archive.getvalue()
