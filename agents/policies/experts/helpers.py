"""What all experts' scripts share, in JavaScript."""

from pathlib import Path
from typing import Final

HELPERS: Final = Path(__file__).with_name("helpers.js").read_text()
