"""System checks: what would break later is said at the start, with its remedy."""

import os
import sqlite3
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

MIN_SQLITE = (3, 35, 0)


@register("studio")
def home_is_writable(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Check the folder that keeps everything."""
    if os.access(settings.OCHE_HOME, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            f"the studio's folder {settings.OCHE_HOME} cannot be written to",
            hint="Give it to the user that runs the studio, or name another one by "
            "OCHE_HOME.",
            id="studio.E001",
        )
    ]


@register("studio")
def secrets_are_private(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Check that nobody else can read the keys."""
    found: list[CheckMessage] = []
    for name in ("secret.key", "inference.key"):
        file = settings.OCHE_HOME / name
        if file.exists() and file.stat().st_mode & 0o077:
            found.append(
                Warning(
                    f"others can read {file}",
                    hint=f"chmod 600 {file}",
                    id="studio.W001",
                )
            )
    return found


@register("studio")
def sqlite_is_new_enough(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Check that the embedded database can do what is asked of it."""
    if settings.DATABASE_URL or sqlite3.sqlite_version_info >= MIN_SQLITE:
        return []
    return [
        Error(
            f"SQLite {sqlite3.sqlite_version} is too old, 3.35 is the oldest that works",
            hint="Use a newer Python, or a PostgreSQL server by OCHE_DATABASE_URL.",
            id="studio.E002",
        )
    ]


@register("studio")
def postgresql_driver_is_there(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Check that the database that was asked for can be spoken to."""
    if not settings.DATABASE_URL:
        return []
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return [
            Error(
                "OCHE_DATABASE_URL names a PostgreSQL server, but psycopg is missing",
                hint=".venv/bin/pip install 'psycopg[binary]'",
                id="studio.E003",
            )
        ]
    return []
