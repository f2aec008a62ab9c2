"""The slot board: what every slot is doing and its latest screen, in Redis.

Everything expires by itself, so a worker that dies leaves no ghosts for long. A board
that cannot be reached never disturbs a rollout: publishing then does nothing.
"""

import dataclasses
import io
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from PIL.Image import Image
from redis.exceptions import RedisError

from studio.common.redis import connect

logger = logging.getLogger(__name__)

SlotPhase = Literal["idle", "reset", "model", "acting", "evaluating"]

SLOT_TTL_S: Final = 10
FRAME_TTL_S: Final = 30
WATCH_TTL_S: Final = 5
_SLOTS: Final = "oche:slots"
# How long a process believes what it last read about who is watching.
_WATCH_CACHE_S: Final = 0.5
_WEBP_QUALITY: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class SlotState:
    """What one slot is doing."""

    slot: str
    """Id, unique among all workers."""
    worker: str = ""
    run_id: str = ""
    trajectory_id: str = ""
    evaluation_id: str = ""
    owner_id: int | None = None
    """Whose work it is: nobody else sees the slot."""
    task: str = ""
    """``<backend>/<name>``."""
    instruction: str = ""
    step: int = 0
    max_steps: int = 0
    state: SlotPhase = "idle"
    action: Mapping[str, Any] | None = None
    """The last action, ``actions.action_to_dict``; points are fractions."""
    version: int | None = None
    """Of the policy that acts."""
    seq: int = 0
    """Counts the slot's frames; filled in by ``publish``."""
    at: float = 0.0
    """Seconds since 1970; filled in by ``publish``."""
    screen_size: tuple[int, int] | None = None
    """Width and height of the latest frame in pixels; filled in by ``publish``."""


@dataclass(slots=True)
class _Latest:
    """What is known of a slot's latest frame."""

    seq: int
    screen_size: tuple[int, int] | None
    work: tuple[int | None, str, str]
    """Whose it shows: owner, run, evaluation."""


class FrameStore:
    """The board, for the workers that write it and the web that reads it.

    Calls block for a fraction of a millisecond; from a coroutine use
    ``asyncio.to_thread`` where that matters.
    """

    def __init__(self, redis_url: str) -> None:
        self.redis_url = redis_url
        self._redis = connect(redis_url)
        self._latest: dict[str, _Latest] = {}
        self._watched: dict[str, tuple[float, bool]] = {}

    def publish(
        self, state: SlotState, screen: Image | None = None
    ) -> SlotState | None:
        """Write a slot's state, and its screen where a viewer of its run is there.

        Args:
            state: ``seq``, ``at`` and ``screen_size`` are filled in here.
            screen: What the slot shows now; None leaves the latest frame alone.

        Returns:
            The state as written; None if the board could not be reached.
        """
        try:
            latest = self._latest_of(state.slot)
            frame = self._encode(state, screen)
            is_foreign = latest.work != _work_of(state)
            if is_foreign:
                latest.screen_size = None
            if frame is not None:
                latest.seq += 1
            if screen is not None:
                latest.screen_size = screen.size
            written = dataclasses.replace(
                state,
                seq=latest.seq,
                at=time.time(),
                screen_size=latest.screen_size,
            )
            if is_foreign:
                # Before the slot is theirs: they must not get somebody else's screen.
                self._redis.delete(_frame_key(state.slot))
            self._write(written, frame)
            latest.work = _work_of(state)
        except RedisError as error:
            logger.debug("slot board out of reach", extra={"error": str(error)})
            return None
        return written

    def remove(self, slot: str) -> None:
        """Take a slot off the board."""
        try:
            self._redis.delete(_slot_key(slot), _frame_key(slot))
            self._redis.zrem(_SLOTS, slot)
        except RedisError as error:
            logger.debug("slot board out of reach", extra={"error": str(error)})

    def slots(self) -> list[SlotState]:
        """Return the slots that gave a sign of life lately, by id.

        Raises:
            RedisError: If the board cannot be reached.
        """
        self._redis.zremrangebyscore(_SLOTS, "-inf", time.time() - SLOT_TTL_S)
        members = cast("list[bytes]", self._redis.zrange(_SLOTS, 0, -1))
        names = sorted(name.decode() for name in members)
        if not names:
            return []
        texts = self._redis.mget([_slot_key(name) for name in names])
        return [_state_from_json(text) for text in texts if text is not None]

    def frame(self, slot: str) -> bytes | None:
        """Return a slot's latest screen as WebP, or None.

        Raises:
            RedisError: If the board cannot be reached.
        """
        return cast("bytes | None", self._redis.get(_frame_key(slot)))

    def watch(self, run_id: str) -> None:
        """Ask for frames of a run for the next seconds; viewers repeat it.

        Raises:
            RedisError: If the board cannot be reached.
        """
        self._redis.set(_watch_key(run_id), 1, ex=WATCH_TTL_S)

    def is_watched(self, run_id: str) -> bool:
        """Return whether anybody asked for frames of a run lately.

        Raises:
            RedisError: If the board cannot be reached.
        """
        if not run_id:
            return False
        now = time.monotonic()
        read_at, is_watched = self._watched.get(run_id, (-1.0, False))
        if read_at < 0 or now - read_at > _WATCH_CACHE_S:
            is_watched = bool(self._redis.exists(_watch_key(run_id)))
            self._watched[run_id] = (now, is_watched)
        return is_watched

    def _encode(self, state: SlotState, screen: Image | None) -> bytes | None:
        # Encoding costs more than all else here: nobody looks, nothing is encoded.
        watch_id = state.run_id or state.evaluation_id
        if screen is None or not self.is_watched(watch_id):
            return None
        file = io.BytesIO()
        screen.save(file, format="WEBP", quality=_WEBP_QUALITY, method=0)
        return file.getvalue()

    def _latest_of(self, slot: str) -> "_Latest":
        if slot not in self._latest:
            # Goes on where an earlier life of the worker stopped, so that a page does
            # not take a new frame for one that it has.
            text = self._redis.get(_slot_key(slot))
            before = _state_from_json(text) if text else SlotState(slot=slot)
            self._latest[slot] = _Latest(
                before.seq, before.screen_size, _work_of(before)
            )
        return self._latest[slot]

    def _write(self, state: SlotState, frame: bytes | None) -> None:
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.set(
                _slot_key(state.slot),
                json.dumps(dataclasses.asdict(state)),
                ex=SLOT_TTL_S,
            )
            pipe.zadd(_SLOTS, {state.slot: state.at})
            if frame is not None:
                pipe.set(_frame_key(state.slot), frame, ex=FRAME_TTL_S)
            pipe.execute()


def _work_of(state: SlotState) -> tuple[int | None, str, str]:
    return state.owner_id, state.run_id, state.evaluation_id


def _slot_key(slot: str) -> str:
    return f"oche:slot:{slot}"


def _frame_key(slot: str) -> str:
    return f"oche:frame:{slot}"


def _watch_key(run_id: str) -> str:
    return f"oche:watch:{run_id}"


def _state_from_json(text: bytes | str) -> SlotState:
    data = json.loads(text)
    if data["screen_size"] is not None:
        data["screen_size"] = tuple(data["screen_size"])
    return SlotState(**data)
