"""Which database: SQLite in the studio's folder, or the PostgreSQL that a URL names."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

SQLITE_TIMEOUT_S = 20

# WAL: readers never wait for a writer. NORMAL: a crash of the process loses nothing, a
# power cut at most the last transactions. The cache is in KiB when negative.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cache_size=-16000;"
)


def sqlite(file: Path) -> dict[str, Any]:
    """Return the embedded database.

    IMMEDIATE: a transaction that will write takes the write lock at its beginning and
    waits for it; the default takes it later and fails at once when another was first.
    """
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": file,
        "OPTIONS": {
            "timeout": SQLITE_TIMEOUT_S,
            "transaction_mode": "IMMEDIATE",
            "init_command": SQLITE_PRAGMAS,
        },
    }


def postgresql(url: str) -> dict[str, Any]:
    """Return the database of ``postgresql://user:password@host:port/name``."""
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
