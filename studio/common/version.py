"""Which code runs: a short name that differs as soon as one line does. No Django."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("agents", "environments", "studio", "training")


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the beginning of a hash over all modules, as they lie on the disk.

    Of a process that has just started: that is what it runs. It needs no version
    control, and tells apart what was never committed.
    """
    digest = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]
