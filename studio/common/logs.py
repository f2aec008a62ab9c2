"""One format for the logs of all processes: an event and its fields.

``logger.info("run started", extra={"run_id": …})`` becomes
``12:30:01 INFO    run started run_id=…``. Fields bound with ``bound`` are added to every
event within the block. No Django.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_bound: ContextVar[Mapping[str, Any]] = ContextVar("bound_log_fields", default=_NOTHING)

STANDARD_FIELDS = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {
    "message",
    "asctime",
    "taskName",
    "data",
    "color_message",
    "request",
    "status_code",
}


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Add the fields to every event that is logged inside the block."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return what was bound, then what was given with the event itself."""
    own = {k: v for k, v in vars(record).items() if k not in STANDARD_FIELDS}
    return {**_bound.get(), **own}


class EventFormatter(logging.Formatter):
    """Time, level, event, ``name=value`` for each field, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, a traceback below it."""
        at = datetime.fromtimestamp(record.created).astimezone()
        parts = [f"{at:%H:%M:%S} {record.levelname:<7} {record.getMessage()}"]
        parts += [f"{name}={_shown(v)}" for name, v in fields_of(record).items()]
        line = " ".join(parts)
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return repr(text) if not text or any(c.isspace() for c in text) else text
