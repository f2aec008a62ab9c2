"""What happened in the cluster lately: a short list in Redis that workers write.

For people to read; nothing is decided by it. Knows no Django.
"""

import logging
from dataclasses import dataclass
from typing import Final, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from redis.exceptions import RedisError

from studio.common.redis import Redis
from studio.common.registry import RegistryUnreadable

logger = logging.getLogger(__name__)

KEY: Final = "oche:environments:events"
MAX_EVENTS: Final = 500

EventKind = Literal[
    "started", "ended", "lost", "back", "draining", "drained", "resumed", "restarting",
    "fault", "orphans",
]  # fmt: skip


class Event(BaseModel):
    """One thing that happened."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: EventKind
    worker: str
    text: str
    """A sentence; names neither task nor run."""
    task: str = ""
    """``<backend>/<name>``, for those who may know it."""
    owner_id: int | None = None
    """Whose episode it befell; None for nobody's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Happened:
    """An event and when it was written, by Redis's clock."""

    event: Event
    at: float
    """Seconds since 1970."""


class EventLog:
    """The list, for workers that write it and pages that read it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def note(self, event: Event) -> None:
        """Add an event; one that cannot be written is no matter."""
        try:
            self._redis.xadd(KEY, {"event": event.model_dump_json()}, maxlen=MAX_EVENTS)
        except RedisError as error:
            logger.debug("event not written: %s", error)

    def note_once(self, mark: str, event: Event, *, for_s: int) -> None:
        """Add an event unless somebody has done so under the same mark lately."""
        try:
            if self._redis.set(f"{KEY}:{mark}", 1, nx=True, ex=for_s):
                self.note(event)
        except RedisError as error:
            logger.debug("event not written: %s", error)

    def newest(self, num: int) -> list[Happened]:
        """Return the latest events, newest first.

        Raises:
            RegistryUnreadable: If Redis does not answer.
        """
        try:
            rows = cast(
                "list[tuple[bytes, dict[bytes, bytes]]]",
                self._redis.xrevrange(KEY, count=num),
            )
        except (RedisError, OSError) as error:
            raise RegistryUnreadable(f"the events cannot be read: {error}") from error
        return [one for row in rows if (one := _happened(*row)) is not None]


def _happened(number: bytes, fields: dict[bytes, bytes]) -> Happened | None:
    try:
        event = Event.model_validate_json(fields.get(b"event", b""))
    except ValidationError:
        # Of another release; it would be understood there.
        return None
    return Happened(event=event, at=int(number.split(b"-")[0]) / 1000)
