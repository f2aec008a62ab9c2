"""Who is there: entries in Redis that their owners renew, and what is asked of them.

Ages are told by Redis's own clock, so machines whose clocks differ can share it. An
entry that is renewed no longer can be read for a while: last words. Knows no Django.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from studio.common.redis import Redis

logger = logging.getLogger(__name__)

Entry = TypeVar("Entry", bound=BaseModel)

HEARTBEAT_S: Final = 2.0
LOST_AFTER_S: Final = 10.0
"""Silence after which an owner counts as lost: four renewals that did not come."""
LAST_WORDS_S: Final = 600.0
"""How long an entry can be read after its last renewal."""
REMEMBERED: Final = timedelta(days=7)
"""How long fencing numbers and wishes outlast their owner."""
MAX_NAME: Final = 120


class RegistryUnreadable(Exception):
    """Who is there is not known now; never to be taken for nobody."""

    code = "studio.registry_unreadable"


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen(Generic[Entry]):
    """An entry, and how fresh it is."""

    name: str
    fence: int
    """Which life of the name: grows with every start."""
    heard_s: float
    """Seconds since it was renewed."""
    entry: Entry

    @property
    def is_fresh(self) -> bool:
        """Return whether its owner still renews it."""
        return self.heard_s <= LOST_AFTER_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading(Generic[Entry]):
    """All that could be read at one moment."""

    seen: tuple[Seen[Entry], ...]
    """By name, then by fence."""
    unreadable: tuple[str, ...]
    """For each entry that could not be understood: which, and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What people want of the owner of a name; its owner reads it at each renewal."""

    is_drained: bool = False
    """It shall begin nothing new; holds for later lives as well."""
    restart_fence: int = 0
    """The life that shall end itself as soon as it plays nothing; 0 for none."""


class Registry(Generic[Entry]):
    """Entries of one kind."""

    def __init__(self, redis: Redis, *, prefix: str, model: type[Entry]) -> None:
        """Open it; nothing is asked yet.

        Args:
            redis: Where it is kept.
            prefix: Of its keys, ending in a colon.
            model: What an entry is; fields that it does not know are passed over.
        """
        self._redis = redis
        self._prefix = prefix
        self._model = model

    def join(self, name: str) -> int:
        """Begin a life under a name; returns its fence, higher than all before.

        Raises:
            ValueError: If the name is empty, too long or has a ``#``.
            RedisError: If Redis does not answer.
        """
        if not 0 < len(name) <= MAX_NAME or "#" in name:
            raise ValueError(
                f"expected a name of 1 to {MAX_NAME} characters without #, got {name!r}"
            )
        return self._redis.incr(self._fence_key(name))

    def announce(self, name: str, fence: int, entry: Entry) -> Wish:
        """Write or renew an entry, and return what is wanted of its owner.

        Each life has an entry of its own: one that was thought dead and comes back
        overwrites nothing of its successor's.

        Raises:
            RedisError: If Redis does not answer.
        """
        now = self._now()
        wish_key, fence_key = self._wish_key(name), self._fence_key(name)
        with self._redis.pipeline() as pipe:
            pipe.set(self._entry_key(name, fence), entry.model_dump_json(), ex=_KEEP)
            pipe.zadd(self._index_key, {f"{name}#{fence}": now})
            pipe.zremrangebyscore(self._index_key, "-inf", now - LAST_WORDS_S)
            # A Redis that lost its memory must not give a successor a lower number.
            pipe.set(fence_key, fence, nx=True)
            pipe.expire(fence_key, REMEMBERED)
            pipe.expire(wish_key, REMEMBERED)
            pipe.hgetall(wish_key)
            answers = pipe.execute()
        return _wish_of(answers[-1])

    def read(self) -> Reading[Entry]:
        """Return every entry that was renewed within the last minutes.

        Raises:
            RegistryUnreadable: If Redis does not answer, or holds something else.
        """
        try:
            now = self._now()
            members = cast(
                "list[tuple[bytes, float]]",
                self._redis.zrangebyscore(
                    self._index_key, now - LAST_WORDS_S, "+inf", withscores=True
                ),
            )
            found = [(*_life_of(member), now - at) for member, at in members]
            keys = [self._entry_key(name, fence) for name, fence, _ in found]
            texts = self._redis.mget(keys) if keys else []
        except (RedisError, OSError, ValueError) as error:
            raise RegistryUnreadable(
                f"the registry does not answer: {error}"
            ) from error
        return self._reading(zip(found, texts, strict=True))

    def wish(self, name: str) -> Wish:
        """Return what is wanted of the owner of a name.

        Raises:
            RedisError: If Redis does not answer.
        """
        return _wish_of(self._redis.hgetall(self._wish_key(name)))

    def ask_drained(self, name: str, *, is_drained: bool) -> None:
        """Want that the owner of a name begins nothing new, or that it does again.

        Raises:
            RedisError: If Redis does not answer.
        """
        self._ask(name, "drained", int(is_drained))

    def ask_restart(self, name: str, *, fence: int) -> None:
        """Want that one life of a name ends itself; a later life is not meant.

        Raises:
            RedisError: If Redis does not answer.
        """
        self._ask(name, "restart", fence)

    def _ask(self, name: str, field: str, value: int) -> None:
        with self._redis.pipeline() as pipe:
            pipe.hset(self._wish_key(name), field, str(value))
            pipe.expire(self._wish_key(name), REMEMBERED)
            pipe.execute()

    def _now(self) -> float:
        seconds, microseconds = self._redis.time()
        return seconds + microseconds / 1e6

    def _reading(self, found: Iterable[Any]) -> Reading[Entry]:
        seen, unreadable = [], []
        for (name, fence, heard_s), text in found:
            # It may expire between the two questions.
            if text is None:
                continue
            try:
                entry = self._model.model_validate_json(text)
            except ValidationError as error:
                wrong = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(map(str, wrong["loc"])) or "entry"
                unreadable.append(f"{name}: {where}: {wrong['msg']}")
                continue
            seen.append(
                Seen(name=name, fence=fence, heard_s=max(0.0, heard_s), entry=entry)
            )
        seen.sort(key=lambda one: (one.name, one.fence))
        return Reading(seen=tuple(seen), unreadable=tuple(sorted(unreadable)))

    @property
    def _index_key(self) -> str:
        return f"{self._prefix}index"

    def _entry_key(self, name: str, fence: int) -> str:
        return f"{self._prefix}entry:{name}#{fence}"

    def _fence_key(self, name: str) -> str:
        return f"{self._prefix}fence:{name}"

    def _wish_key(self, name: str) -> str:
        return f"{self._prefix}wish:{name}"


_KEEP: Final = int(LAST_WORDS_S)


def _life_of(member: bytes) -> tuple[str, int]:
    name, _, fence = member.decode().rpartition("#")
    return name, int(fence)


def _wish_of(fields: Any) -> Wish:
    try:
        return Wish(
            is_drained=bool(int(fields.get(b"drained", 0))),
            restart_fence=int(fields.get(b"restart", 0)),
        )
    except ValueError:
        logger.warning("wish passed over: %r", fields)
        return Wish()
