"""The cluster's page: who works where, what each slot does, what happened lately."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from agents.inference.registry import LiveWorker
from environments.errors import EnvironmentsError
from environments.selectors import may_manage_workers
from environments.services.workers import (
    worker_drain,
    worker_restart,
    worker_resume,
)
from environments.workers import (
    EnvironmentWorker,
    SlotEntry,
    WorkerState,
    seconds_in_step,
)
from studio.cluster import Everything, everything, web_host
from studio.common.http import SignedInRequest
from studio.common.registry import RegistryUnreadable, Seen
from training.pages.cluster import LETTERS, Unit, counted, slot_unit
from training.processes import ProcessEntry

MAX_SLOTS: Final = 64
"""Slots that the page lists one by one; the API has them all."""
STUCK_S: Final = 30.0
"""Longer than this in one step is worth a look."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One process in the table of workers."""

    name: str
    kind: str
    host: str
    state: str
    """A state of the status table."""
    units: Sequence[Unit] = ()
    works_on: str = ""
    code: str = ""
    memory_bytes: int | None = None
    """With all that it started; None where it does not say."""
    browser_bytes: int = 0
    cpu_percent: float | None = None
    per_min: int | None = None
    num_restarts: int | None = None
    num_orphans: int | None = None
    up_s: float | None = None
    heard_s: float | None = None
    pid: int = 0
    is_supervised: bool = False
    last_error: str = ""
    last_error_s: float = 0.0
    actions: Sequence[str] = ()
    """What may be asked of it now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlotRow:
    """One slot in the table of slots."""

    slot: SlotEntry
    unit: Unit
    in_step_s: float
    is_playing: bool
    is_stuck: bool


@login_required
@require_safe
def cluster(request: SignedInRequest) -> HttpResponse:
    """Show the cluster."""
    return render(request, "studio/cluster.html", _context(request))


@login_required
@require_safe
def cluster_pulse(request: SignedInRequest) -> HttpResponse:
    """Answer only the regions of the page that change."""
    return render(request, "studio/cluster_pulse.html", _context(request))


ACTIONS: Final[dict[str, tuple[Callable[..., None], str]]] = {
    "drain": (worker_drain, "{name} takes no new episode; what it plays goes on."),
    "resume": (worker_resume, "{name} takes episodes again within two seconds."),
    "restart": (worker_restart, "{name} ends once it plays nothing."),
}


@login_required
@require_POST
def worker_action(request: SignedInRequest, name: str, action: str) -> HttpResponse:
    """Drain, resume or restart a worker, and show the cluster."""
    if not may_manage_workers(request.user):
        raise PermissionDenied("only staff may drain and restart workers")
    if action not in ACTIONS:
        raise Http404
    act, sentence = ACTIONS[action]
    try:
        act(name=name, who=request.user.get_username())
    except (EnvironmentsError, RegistryUnreadable) as error:
        messages.error(request, f"Nothing done: {error}.")
    else:
        messages.success(request, sentence.format(name=name))
    return redirect("pages:cluster")


def _context(request: SignedInRequest) -> dict[str, Any]:
    now = everything(request.user)
    may_manage = may_manage_workers(request.user)
    slots = list(_slot_rows(now))
    return {
        "nav": "cluster",
        "now": now,
        "may_manage": may_manage,
        "rows": list(_rows(now, may_manage=may_manage)),
        "slots": slots[:MAX_SLOTS],
        "num_slots_more": max(0, len(slots) - MAX_SLOTS),
        "slots_sentence": counted([row.unit for row in slots]),
        "web_host": web_host(),
        "happened": [
            (datetime.fromtimestamp(one.at, tz=UTC), one.event) for one in now.events
        ],
        "drawn_at": timezone.now(),
    }


def _rows(now: Everything, *, may_manage: bool) -> Iterator[Row]:
    for seen, state in now.environments.workers:
        yield _environment_row(seen, state, may_manage=may_manage)
    for worker in now.inference:
        yield _inference_row(worker)
    for process in [*now.trainers, *now.managers]:
        yield _process_row(process, now)


def _environment_row(
    seen: Seen[EnvironmentWorker], state: WorkerState, *, may_manage: bool
) -> Row:
    entry = seen.entry
    is_silent = state in ("lost", "ended")
    num_playing = sum(slot.state != "idle" for slot in entry.slots)
    return Row(
        name=seen.name,
        kind="environment",
        host=entry.host,
        state="healthy" if state == "serving" else state,
        units=[slot_unit(slot, is_lost=is_silent) for slot in entry.slots],
        works_on=f"{num_playing} of {len(entry.slots)} slots play"
        if not is_silent
        else f"{len(entry.slots)} slots are out",
        code=entry.code,
        memory_bytes=None if is_silent else entry.own_bytes + entry.browser_bytes,
        browser_bytes=entry.browser_bytes,
        cpu_percent=None if is_silent else entry.cpu_percent,
        per_min=None if is_silent else entry.num_episodes_last_min,
        num_restarts=entry.num_restarts,
        num_orphans=entry.num_orphans,
        up_s=None if is_silent else entry.up_s + seen.heard_s,
        heard_s=seen.heard_s,
        pid=entry.pid,
        is_supervised=entry.is_supervised,
        last_error=entry.last_error if may_manage else "",
        last_error_s=entry.last_error_s + seen.heard_s,
        actions=_actions(state) if may_manage else (),
    )


def _actions(state: WorkerState) -> Sequence[str]:
    """Return what a worker in a state would hear and do."""
    return {
        "serving": ("drain", "restart"),
        "draining": ("resume", "restart"),
        "drained": ("resume", "restart"),
    }.get(state, ())


def _inference_row(worker: LiveWorker) -> Row:
    is_busy = worker.in_flight > 0
    num = len(worker.models)
    policies = f"{num} polic{'y' if num == 1 else 'ies'}"
    return Row(
        name=worker.worker_id,
        kind="inference",
        host=worker.url,
        state="healthy",
        units=[_unit("acting" if is_busy else "idle", f"{worker.in_flight} in flight")],
        works_on=f"{policies}, {worker.in_flight} in flight, {worker.waiting} waiting",
        up_s=max(0.0, timezone.now().timestamp() - worker.started_at),
        pid=worker.pid,
    )


def _process_row(seen: Seen[ProcessEntry], now: Everything) -> Row:
    entry = seen.entry
    is_trainer = entry.kind == "trainer"
    busy = is_trainer and bool(now.training)
    names = ", ".join(run.name for run in now.training[:3])
    state = "acting" if busy or not is_trainer else "idle"
    return Row(
        name=seen.name,
        kind=entry.kind,
        host=entry.host,
        state="healthy" if seen.is_fresh else "lost",
        units=[_unit(state if seen.is_fresh else "lost", seen.name)],
        works_on=(names or "waits for a run") if is_trainer else "looks each second",
        code=entry.code,
        memory_bytes=entry.own_bytes + entry.children_bytes if seen.is_fresh else None,
        browser_bytes=entry.children_bytes,
        cpu_percent=entry.cpu_percent if seen.is_fresh else None,
        up_s=entry.up_s + seen.heard_s if seen.is_fresh else None,
        heard_s=seen.heard_s,
        pid=entry.pid,
        is_supervised=entry.is_supervised,
    )


def _unit(state: str, title: str) -> Unit:
    letter, look, words = LETTERS[state]
    return Unit(letter=letter, look=look, title=f"{title}: {words}", state=words)


def _slot_rows(now: Everything) -> Iterator[SlotRow]:
    for seen, state in now.environments.workers:
        if state == "ended":
            continue
        for slot in seen.entry.slots:
            in_step_s = seconds_in_step(seen, slot)
            is_playing = slot.state != "idle" and state != "lost"
            yield SlotRow(
                slot=slot,
                unit=slot_unit(slot, is_lost=state == "lost"),
                in_step_s=in_step_s,
                is_playing=is_playing,
                is_stuck=is_playing and in_step_s > STUCK_S,
            )
