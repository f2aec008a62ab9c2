"""What was lost on the way: workers that died, messages that nobody got."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from training.models import Trajectory
from training.services import messages
from training.services.trajectories import trajectories_reap
from training.states import TrajectoryStatus

CLAIMED_WITHIN_S: Final = 20.0
MAX_SENT_AT_ONCE: Final = 200


def rollouts_reap() -> None:
    """Fault what lost its worker, and send again what lost its message."""
    trajectories_reap()
    lost = _lost_messages(timezone.now())
    if lost:
        # The time of dispatch moves on, so that none is sent twice in a moment.
        Trajectory.objects.filter(pk__in=lost, status=TrajectoryStatus.QUEUED).update(
            dispatched_at=timezone.now()
        )
        messages.send_trajectories(lost)


def _lost_messages(now: datetime) -> list[UUID]:
    """Return queued trajectories whose message is gone.

    One is gone if the queue is empty, or if a worker has already begun what was
    dispatched later: messages are delivered in the order in which they were sent.
    """
    queued = Trajectory.objects.filter(
        status=TrajectoryStatus.QUEUED,
        dispatched_at__lt=now - timedelta(seconds=CLAIMED_WITHIN_S),
    )
    if not queued.exists():
        return []
    if messages.num_waiting_rollouts() != 0:
        running = Trajectory.objects.filter(status=TrajectoryStatus.RUNNING)
        newest = running.aggregate(newest=Max("dispatched_at"))["newest"]
        if newest is None:
            return []
        queued = queued.filter(
            dispatched_at__lt=newest - timedelta(seconds=CLAIMED_WITHIN_S)
        )
    return list(
        queued.order_by("dispatched_at").values_list("pk", flat=True)[:MAX_SENT_AT_ONCE]
    )
