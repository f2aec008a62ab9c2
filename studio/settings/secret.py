"""Secrets that are made once and kept in a file that only their owner can read."""

import os
import secrets
from pathlib import Path


def secret_from(file: Path) -> str:
    """Return the secret in the file, made on the first call.

    Of several processes that start at once one makes it and the others read it: the
    file appears whole or not at all.
    """
    if file.exists():
        return file.read_text().strip()
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_urlsafe(48))
    try:
        # link(), unlike rename(), fails when another process was first.
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return file.read_text().strip()
