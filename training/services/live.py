"""What the slots show while they work: the board in Redis, and who is told of it."""

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from PIL.Image import Image

from environments.frames import FrameStore, SlotPhase, SlotState
from training.events import FrameShown, publish_async
from training.models import Trajectory

MIN_GAP_S: Final = 0.2
"""Between two frame events of a slot: at most five a second."""


@lru_cache(maxsize=1)
def frame_store() -> FrameStore:
    """Return this process's connection to the slot board."""
    return FrameStore(settings.REDIS_URL)


class SlotReporter:
    """Puts one episode on the board, step by step."""

    def __init__(self, *, slot: str, worker: str, trajectory: Trajectory) -> None:
        self._run_id = trajectory.run_id
        self._state: dict[str, Any] = {
            "slot": slot,
            "worker": worker,
            "run_id": str(trajectory.run_id or ""),
            "trajectory_id": str(trajectory.pk),
            "evaluation_id": str(trajectory.evaluation_id or ""),
            "owner_id": trajectory.owner_id,
            "task": str(trajectory.task),
            "max_steps": trajectory.step_limit,
        }
        self._told_at = 0.0

    async def show(
        self,
        *,
        state: SlotPhase,
        step: int = 0,
        screen: Image | None = None,
        instruction: str | None = None,
        action: Mapping[str, Any] | None = None,
        version: int | None = None,
    ) -> None:
        """Publish what the slot does now; what is None stays as it was."""
        news = {
            "instruction": instruction,
            "action": action,
            "version": version,
            "screen_size": screen.size if screen else None,
        }
        self._state |= {key: value for key, value in news.items() if value is not None}
        self._state |= {"state": state, "step": step}
        # Not in a thread: it takes a fraction of a millisecond, a thread takes longer.
        written = frame_store().publish(SlotState(**self._state), screen)
        now = time.monotonic()
        if (
            screen is None
            or written is None
            or self._run_id is None
            or now - self._told_at < MIN_GAP_S
        ):
            return
        self._told_at = now
        await publish_async(
            FrameShown(
                run_id=UUID(str(self._run_id)), slot=written.slot, seq=written.seq
            )
        )

    async def rest(self) -> None:
        """Say that the slot is free again; its last screen stays."""
        self._state |= {"state": "idle"}
        frame_store().publish(SlotState(**self._state))
