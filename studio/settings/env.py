"""The only reader of the environment: every variable ``OCHE_…``, typed and checked.

No Django. A value that cannot be read stops the process with the variable's name,
what was found and what was expected.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

REPOSITORY = Path(__file__).resolve().parents[2]

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})


class InvalidVariable(Exception):
    """An environment variable holds what it must not."""

    def __init__(self, name: str, found: str, expected: str) -> None:
        super().__init__(f"{name}={found!r}: expected {expected}")


def text(name: str, default: str, *, source: Mapping[str, str] = os.environ) -> str:
    """Return the variable without surrounding blanks."""
    return source.get(name, default).strip()


def flag(name: str, *, default: bool, source: Mapping[str, str] = os.environ) -> bool:
    """Return a yes or no.

    Raises:
        InvalidVariable: If it is neither.
    """
    if name not in source:
        return default
    value = source[name].strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise InvalidVariable(name, source[name], "1, true, yes, on or 0, false, no, off")


def integer(
    name: str,
    default: int,
    *,
    low: int,
    high: int,
    source: Mapping[str, str] = os.environ,
) -> int:
    """Return a whole number in ``low``…``high``.

    Raises:
        InvalidVariable: If it is not one.
    """
    value = source.get(name, "").strip()
    if not value:
        return default
    expected = f"a whole number from {low} to {high}"
    try:
        number = int(value)
    except ValueError:
        raise InvalidVariable(name, value, expected) from None
    if not low <= number <= high:
        raise InvalidVariable(name, value, expected)
    return number


def words(name: str, *, source: Mapping[str, str] = os.environ) -> list[str]:
    """Return a comma-separated list, blanks and empty parts left out."""
    parts = (part.strip() for part in source.get(name, "").split(","))
    return [part for part in parts if part]


def path(name: str, default: Path, *, source: Mapping[str, str] = os.environ) -> Path:
    """Return an absolute path; ``~`` is the home folder."""
    value = source.get(name, "").strip()
    return (Path(value).expanduser() if value else default).absolute()


def url(
    name: str,
    *,
    schemes: tuple[str, ...],
    source: Mapping[str, str] = os.environ,
) -> str:
    """Return an address, or nothing when the variable is not set.

    Raises:
        InvalidVariable: If its scheme is none of ``schemes``.
    """
    value = source.get(name, "").strip()
    if value and urlsplit(value).scheme not in schemes:
        expected = "an address that begins with " + " or ".join(
            f"{scheme}://" for scheme in schemes
        )
        raise InvalidVariable(name, value, expected)
    return value
