"""Pages of runs: the list, one run from several sides, what one can ask of it."""

import csv
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from studio.common.http import SignedInRequest
from training.charts.figures import charts_of
from training.errors import InvalidTransition, TrainingError
from training.metrics import METRICS
from training.models import MetricRow, Run
from training.pages import overview
from training.pages.cluster import Cluster, cluster_now
from training.pages.facts import RunFacts, facts_of, point_of
from training.pages.paging import ordered, paged
from training.selectors import runs_visible_to
from training.services.runs import run_pause, run_resume, run_stop
from training.states import RunStatus

ORDERS: Final = {
    "name": "name",
    "status": "status",
    "kind": "kind",
    "step": "optimizer_step",
    "started": "started_at",
    "created": "created_at",
}


@login_required
@require_safe
def run_list(request: SignedInRequest) -> HttpResponse:
    """List the runs: filtered, sorted and cut on the server."""
    runs = runs_visible_to(request.user)
    if text := request.GET.get("q", "").strip():
        runs = runs.filter(name__icontains=text)
    counts = dict(runs.values_list("status").annotate(Count("pk")).order_by())
    status = request.GET.get("status", "")
    shown = runs.filter(status=status) if status in RunStatus else runs
    rows, order = ordered(
        shown.select_related("owner"), request.GET.get("order", ""), ORDERS, "-created"
    )
    page = paged(rows, request.GET)
    facets = [(one, counts[one]) for one in RunStatus if counts.get(one)]
    return render(
        request,
        "training/run_list.html",
        {
            "nav": "runs",
            "page": page,
            "rows": facts_of(list(page.object_list)),
            "order": order,
            "q": text,
            "status": status,
            "facets": facets,
            "num_all": sum(counts.values()),
        },
    )


@login_required
@require_safe
def run_overview(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show how a run is going."""
    facts = _facts_or_404(request, run_id)
    points = overview.points_of(facts.run)
    charts = charts_of(facts.run.kind, points)
    context = _regions(facts) | {
        "tab": "overview",
        "charts": charts,
        "chart_data": {
            "seq": facts.run.last_seq,
            "charts": {chart.spec.key: chart.description for chart in charts},
        },
        "values": overview.newest_values(points),
    }
    return render(request, "training/run_overview.html", context)


@login_required
@require_safe
def run_pulse(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Answer only the regions of a run's pages that change; the page swaps them."""
    facts = _facts_or_404(request, run_id)
    newest = MetricRow.objects.filter(run=facts.run).order_by("-seq")[:6]
    points = [point_of(row) for row in reversed(newest)]
    context = _regions(facts) | {"values": overview.newest_values(points)}
    return render(request, "training/run_pulse.html", context)


@login_required
@require_safe
def run_live(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show the wall of a run's screens."""
    facts = _facts_or_404(request, run_id)
    context = {"nav": "runs", "tab": "live", "facts": facts, "run": facts.run}
    return render(request, "training/run_live.html", context)


@login_required
@require_safe
def run_config(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Show what exactly runs."""
    facts = _facts_or_404(request, run_id)
    context = {
        "nav": "runs",
        "tab": "config",
        "facts": facts,
        "run": facts.run,
        "sections": _flat(facts.run.config),
        "checkpoints": facts.run.checkpoints.order_by("-version")[:50],
    }
    return render(request, "training/run_config.html", context)


@login_required
@require_safe
def run_metrics_csv(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Answer all measurements of a run as a table."""
    run = get_object_or_404(runs_visible_to(request.user), pk=run_id)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"metrics-{str(run.pk)[:8]}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    table = csv.writer(response)
    table.writerow(["seq", "attempt", "step", "source", "at", *METRICS])
    for row in MetricRow.objects.filter(run=run).order_by("seq").iterator():
        values = [row.values.get(name, "") for name in METRICS]
        head = [row.seq, row.attempt, row.step, row.source, row.at.isoformat()]
        table.writerow(head + values)
    return response


ACTIONS: Final[dict[str, tuple[Callable[..., Run], str]]] = {
    "stop": (run_stop, "{name} stops after its present optimizer step."),
    "pause": (run_pause, "{name} begins nothing new; what is under way finishes."),
    "resume": (run_resume, "{name} goes on as soon as a trainer is free."),
}


@login_required
@require_POST
def run_action(request: SignedInRequest, run_id: UUID, action: str) -> HttpResponse:
    """Stop, pause or resume a run, and show it."""
    run = get_object_or_404(runs_visible_to(request.user), pk=run_id)
    if action not in ACTIONS:
        raise Http404
    act, sentence = ACTIONS[action]
    try:
        act(run_id=run.pk, who=request.user.get_username())
    except InvalidTransition as error:
        # It moved on between the page and the click; that is no mistake of anybody's.
        messages.warning(request, f"Nothing done: {error}.")
    except TrainingError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, sentence.format(name=run.name))
    return redirect(reverse("training:run", args=[run.pk]))


def visible_run(user: Any, run_id: str) -> Run | None:
    """Return the run that a filter names, if there is one that the user may see."""
    try:
        return runs_visible_to(user).filter(pk=UUID(run_id)).first()
    except ValueError:
        return None


def _facts_or_404(request: SignedInRequest, run_id: UUID) -> RunFacts:
    runs: QuerySet[Run] = runs_visible_to(request.user).select_related("owner")
    return facts_of([get_object_or_404(runs, pk=run_id)])[0]


def _regions(facts: RunFacts) -> dict[str, Any]:
    run = facts.run
    cluster: Cluster = cluster_now()
    return {
        "nav": "runs",
        "facts": facts,
        "run": run,
        "success": overview.success_of(run),
        "held_out": overview.held_out_of(run),
        "counts": overview.counts_of(run),
        "recent": overview.recent_of(run),
        "transitions": overview.transitions_of(run),
        "cluster": cluster,
        "slots": cluster.slots_of(run.pk),
        "workers": cluster.workers_of(run.pk),
    }


def _flat(config: dict[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return the configuration by section, simple values first."""
    plain = [
        (key, value) for key, value in config.items() if not isinstance(value, dict)
    ]
    nested = [
        (key, list(value.items()))
        for key, value in config.items()
        if isinstance(value, dict)
    ]
    return [("", plain), *nested]
