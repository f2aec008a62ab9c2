"""Pages of trajectories: the list, the replay, and the pictures that a replay names."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from environments.models import Task
from studio.common.frames import FrameMissing, frame_path
from studio.common.http import SignedInRequest
from training.models import Trajectory
from training.pages.facts import facts_of
from training.pages.paging import ordered, paged
from training.pages.replay import ReplayMissing, frames_of, read_replay
from training.pages.runs import visible_run
from training.pages.verdict import verdict_of
from training.rollouts.types import EndReason
from training.selectors import runs_visible_to, trajectories_visible_to
from training.services.files import storage
from training.states import TrajectoryStatus

ORDERS: Final = {
    "when": "dispatched_at",
    "reward": "reward",
    "steps": "num_steps",
    "task": "task__name",
    "version": "min_version",
}
FOREVER: Final = "private, max-age=31536000, immutable"
"""A picture is named by its pixels, so it never changes under its address."""


@login_required
@require_safe
def trajectory_list(request: SignedInRequest) -> HttpResponse:
    """List trajectories of all runs."""
    run = visible_run(request.user, request.GET.get("run", ""))
    context = _listed(request, trajectories_visible_to(request.user), run)
    # Only what has a name to choose by; the newest runs come first.
    context["runs"] = runs_visible_to(request.user).order_by("-created_at")[:50]
    return render(request, "training/trajectory_list.html", context)


@login_required
@require_safe
def run_trajectories(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """List the trajectories of one run, below the run's head."""
    runs = runs_visible_to(request.user).select_related("owner")
    run = get_object_or_404(runs, pk=run_id)
    rows = trajectories_visible_to(request.user)
    context = _listed(request, rows, run) | {
        "nav": "runs",
        "tab": "trajectories",
        "facts": facts_of([run])[0],
    }
    return render(request, "training/run_trajectories.html", context)


@login_required
@require_safe
def trajectory_detail(request: SignedInRequest, trajectory_id: UUID) -> HttpResponse:
    """Replay a trajectory."""
    trajectory = _trajectory_or_404(request, trajectory_id)
    replay = None
    problem = ""
    if trajectory.path:
        try:
            replay = read_replay(storage().absolute(trajectory.path))
        except ReplayMissing as error:
            problem = str(error)
    before, after = _neighbours(request, trajectory)
    context = {
        "nav": "trajectories",
        "trajectory": trajectory,
        "replay": replay,
        "problem": problem,
        "verdict": verdict_of(trajectory),
        "newer": before,
        "older": after,
        "bins": range(10),
        "marks": {step.number: step.marks for step in replay.steps} if replay else {},
    }
    return render(request, "training/trajectory_detail.html", context)


@login_required
@require_safe
def trajectory_frame(
    request: SignedInRequest, trajectory_id: UUID, sha256: str
) -> HttpResponse:
    """Answer a picture, if the trajectory names it and the user may see that."""
    trajectory = _trajectory_or_404(request, trajectory_id)
    folder = storage().absolute(trajectory.path) if trajectory.path else None
    if folder is None or sha256 not in _named(folder):
        raise Http404
    return picture(request, sha256)


@login_required
@require_safe
def trajectory_file(request: SignedInRequest, trajectory_id: UUID) -> HttpResponse:
    """Answer the trajectory's record as it is stored."""
    trajectory = _trajectory_or_404(request, trajectory_id)
    if not trajectory.path:
        raise Http404
    try:
        body = (storage().absolute(trajectory.path) / "trajectory.json").read_bytes()
    except OSError as error:
        raise Http404 from error
    response = HttpResponse(body, content_type="application/json")
    name = f"trajectory-{str(trajectory.pk)[:8]}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def picture(request: SignedInRequest, sha256: str) -> HttpResponse:
    """Answer a kept picture for ever; the caller has decided that it may be seen."""
    etag = f'"{sha256}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified()
    try:
        body = frame_path(storage().root, sha256).read_bytes()
    except (FrameMissing, OSError) as error:
        raise Http404 from error
    headers = {"Cache-Control": FOREVER, "ETag": etag}
    return HttpResponse(body, content_type="image/webp", headers=headers)


def _trajectory_or_404(request: SignedInRequest, trajectory_id: UUID) -> Trajectory:
    rows = trajectories_visible_to(request.user).select_related(
        "run", "group__batch", "evaluation"
    )
    return get_object_or_404(rows, pk=trajectory_id)


def _named(folder: Path) -> frozenset[str]:
    file = folder / "trajectory.json"
    try:
        return _frames_at(folder, file.stat().st_mtime_ns)
    except (OSError, ReplayMissing):
        return frozenset()


@lru_cache(maxsize=256)
def _frames_at(folder: Path, mtime_ns: int) -> frozenset[str]:
    # A replay asks for dozens of pictures at once; its file is read for the first.
    return frames_of(folder)


def _listed(
    request: SignedInRequest, rows: QuerySet[Trajectory], run: Any
) -> dict[str, Any]:
    query = request.GET
    if run is not None:
        rows = rows.filter(run=run)
    if task := query.get("task", ""):
        rows = rows.filter(task__name=task)
    outcome = query.get("outcome", "")
    rows = rows.filter(_outcome(outcome))
    rows = rows.select_related("run", "group", "evaluation")
    rows, order = ordered(rows, query.get("order", ""), ORDERS, "-when")
    return {
        "nav": "trajectories",
        "run": run,
        "page": paged(rows, query),
        "order": order,
        "task": task,
        "outcome": outcome,
        "outcomes": [
            *((str(reason), str(reason).replace("_", " ")) for reason in EndReason),
            (str(TrajectoryStatus.FAULTED), "faulted"),
            (str(TrajectoryStatus.RUNNING), "running"),
            ("held_out", "held out"),
        ],
        "tasks": Task.objects.order_by("name").values_list("name", flat=True),
        "is_filtered": bool(task or outcome),
    }


def _outcome(outcome: str) -> Q:
    if outcome in set(EndReason):
        return Q(end_reason=outcome)
    if outcome in (TrajectoryStatus.FAULTED, TrajectoryStatus.RUNNING):
        return Q(status=outcome)
    return Q(evaluation__isnull=False) if outcome == "held_out" else Q()


def _neighbours(
    request: SignedInRequest, trajectory: Trajectory
) -> tuple[Trajectory | None, Trajectory | None]:
    """Return the newer and the older trajectory of the same run."""
    rows = trajectories_visible_to(request.user).filter(
        run=trajectory.run_id, status=TrajectoryStatus.FINISHED
    )
    at, pk = trajectory.dispatched_at, trajectory.pk
    newer = rows.filter(
        Q(dispatched_at__gt=at) | Q(dispatched_at=at, pk__gt=pk)
    ).order_by("dispatched_at", "pk")
    older = rows.filter(
        Q(dispatched_at__lt=at) | Q(dispatched_at=at, pk__lt=pk)
    ).order_by("-dispatched_at", "-pk")
    return newer.first(), older.first()
