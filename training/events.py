"""What a run tells the browser, and how it gets onto the channel layer.

Pictures never travel here: a frame event names a slot, the page fetches the rest.
"""

import logging
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from pydantic import BaseModel
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


class StatusChanged(BaseModel):
    """The run moved to another status."""

    kind: Literal["status_changed"] = "status_changed"
    run_id: UUID
    old_status: str
    new_status: str
    reason: str
    at: datetime


class MetricsRecorded(BaseModel):
    """There are metric rows up to ``seq``; the page fetches those it lacks."""

    kind: Literal["metrics"] = "metrics"
    run_id: UUID
    seq: int
    step: int
    policy_version: int


class FrameShown(BaseModel):
    """A slot shows another screen."""

    kind: Literal["frame"] = "frame"
    run_id: UUID
    slot: str
    seq: int


class TrajectoryFinished(BaseModel):
    """An episode is over and its files can be read."""

    kind: Literal["trajectory_finished"] = "trajectory_finished"
    run_id: UUID
    id: UUID
    task: str
    reward: float
    end_reason: str
    num_steps: int


RunEvent = StatusChanged | MetricsRecorded | FrameShown | TrajectoryFinished


def run_group(run_id: UUID) -> str:
    """Return the channel-layer group of everyone watching a run."""
    return f"run.{run_id.hex}"


def publish(event: RunEvent) -> None:
    """Send an event to everyone watching its run; call after commit."""
    async_to_sync(publish_async)(event)


async def publish_async(event: RunEvent) -> None:
    """Send an event from a coroutine; a deaf channel layer breaks nothing."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        await layer.group_send(run_group(event.run_id), _message(event))
    except (OSError, RedisError, ChannelFull) as error:
        logger.warning("event not sent: %s", error)


def _message(event: RunEvent) -> dict[str, Any]:
    return {"type": "run.event", "event": event.model_dump(mode="json")}
