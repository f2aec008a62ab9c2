"""One studio at a time in one folder."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


class HomeIsTaken(Exception):
    """Another studio runs in this folder."""


@contextlib.contextmanager
def hold_home(home: Path) -> Iterator[Path]:
    """Keep every other studio out of the folder.

    The kernel lets go of the lock when the process ends, however it ends.

    Yields:
        A file in which the holder may write who it is, for the one that comes second.

    Raises:
        HomeIsTaken: With what the holder wrote.
    """
    file = home / "run" / "studio.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = file.read_text().strip() or "it does not say which"
            raise HomeIsTaken(
                f"another studio runs in {home}: {holder}. Stop it, or give this one a "
                "folder of its own: OCHE_HOME=/another/folder"
            ) from None
        file.write_text(f"process {os.getpid()}")
        yield file
    finally:
        os.close(descriptor)
