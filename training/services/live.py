"""What the slots show while they work: the board in Redis, and who is told of it."""

import time
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from PIL.Image import Image

from agents.types import Decision
from environments.actions import action_to_dict
from environments.frames import FrameStore, SlotState
from training.events import FrameShown, publish_async
from training.models import Trajectory
from training.rollouts.runner import ProgressEvent

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
        self._shown: Image | None = None

    async def note(self, event: ProgressEvent) -> None:
        """Publish what the episode is about to do; what is not known stays as it was."""
        self._state |= {"state": event.phase, "step": event.step}
        screen = None
        if event.observation is not None:
            self._state["instruction"] = event.observation.instruction
            if event.observation.screen is not self._shown:
                # The same screen is not encoded again for the next phase.
                screen = self._shown = event.observation.screen
                self._state["screen_size"] = screen.size
        if event.decision is not None:
            self._state |= _seen_of(event.decision)
        # Not in a thread: it takes a fraction of a millisecond, a thread takes longer.
        written = frame_store().publish(SlotState(**self._state), screen)
        now = time.monotonic()
        if screen and written and self._run_id and now - self._told_at >= MIN_GAP_S:
            self._told_at = now
            await publish_async(
                FrameShown(run_id=self._run_id, slot=written.slot, seq=written.seq)
            )

    def rest(self) -> None:
        """Say that the slot is free again; its last screen stays."""
        self._state["state"] = "idle"
        frame_store().publish(SlotState(**self._state))


def _seen_of(decision: Decision) -> dict[str, Any]:
    action = decision.action
    seen: dict[str, Any] = {"action": action_to_dict(action) if action else None}
    if decision.answer is not None and len(decision.answer.versions):
        seen["version"] = int(decision.answer.versions[-1])
    return seen
