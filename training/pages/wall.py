"""The screens of a run in one answer: what its slots do, and the frames not seen yet.

One request for all screens costs the web a tenth of one for each, which on a small
machine is the difference between watching a run and slowing it down.
"""

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from environments.frames import FrameStore, SlotState
from studio.common.http import SignedInRequest
from training.selectors import runs_visible_to
from training.services.live import frame_store

SHOWN = (
    "slot",
    "trajectory_id",
    "evaluation_id",
    "task",
    "instruction",
    "step",
    "max_steps",
    "state",
    "action",
    "version",
    "seq",
    "at",
    "screen_size",
)
OUT_OF_SIGHT = "-"
"""What the page says instead of a number for a screen that is scrolled away."""


@login_required
@never_cache
@require_safe
def run_wall(request: SignedInRequest, run_id: UUID) -> JsonResponse:
    """Answer the run's slots with their screens.

    The query names the frame that the page has of each slot, ``?env-0/3=812``; only
    other frames are sent.
    """
    run = get_object_or_404(runs_visible_to(request.user).only("pk"), pk=run_id)
    try:
        return JsonResponse({"slots": _slots(str(run.pk), request.GET)})
    except (RedisError, OSError):
        return JsonResponse({"detail": "the slot board does not answer"}, status=503)


def _slots(run_id: str, seen: Mapping[str, Any]) -> list[dict[str, Any]]:
    board = frame_store()
    # Screens are encoded only while somebody says that they are looked at.
    board.watch(run_id)
    return [
        _shown(board, state, seen.get(state.slot))
        for state in board.slots()
        if state.run_id == run_id
    ]


def _shown(board: FrameStore, state: SlotState, seen: str | None) -> dict[str, Any]:
    fields = asdict(state)
    shown = {name: fields[name] for name in SHOWN} | {"frame": None}
    if seen not in (OUT_OF_SIGHT, str(state.seq)):
        frame = board.frame(state.slot)
        shown["frame"] = base64.b64encode(frame).decode() if frame else None
    return shown
