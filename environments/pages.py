"""Pages of tasks: what there is to do, and in which worlds. Reads the catalogue only."""

from typing import Final

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from environments.models import Task, TaskSuite
from studio.common.http import SignedInRequest

NEEDS: Final = {
    "text": ("needs_text", "Typing"),
    "drag": ("needs_drag", "Dragging"),
    "scroll": ("needs_scroll", "Scrolling"),
    "timed": ("is_timed", "Changes by itself"),
    "oracle": ("has_oracle", "Has an oracle"),
}
"""``?need=…`` -> the field of a task, and what the page calls it."""


@login_required
@require_safe
def task_list(request: SignedInRequest) -> HttpResponse:
    """List the tasks, by suite."""
    query = request.GET
    tasks = Task.objects.select_related("suite").order_by("suite__name", "name")
    if text := query.get("q", "").strip():
        tasks = tasks.filter(Q(name__icontains=text) | Q(title__icontains=text))
    if suite := query.get("suite", ""):
        tasks = tasks.filter(suite__slug=suite)
    origin = query.get("origin", "")
    if origin in ("official", "ours"):
        tasks = tasks.filter(is_official=origin == "official")
    category = query.get("category", "")
    if category:
        tasks = tasks.filter(category=category)
    need = query.get("need", "")
    if need in NEEDS:
        tasks = tasks.filter(**{NEEDS[need][0]: True})
    context = {
        "nav": "tasks",
        "tasks": tasks,
        "category": category,
        "categories": Task.objects.exclude(category="")
        .values("category")
        .annotate(num_tasks=Count("pk"))
        .order_by("category"),
        "need": need,
        "needs": [(word, label) for word, (_, label) in NEEDS.items()],
        "suites": TaskSuite.objects.annotate(num_tasks=Count("tasks")),
        "num_all": Task.objects.count(),
        "q": text,
        "suite": suite,
        "origin": origin,
    }
    return render(request, "environments/task_list.html", context)


@login_required
@require_safe
def task_detail(request: SignedInRequest, backend: str, name: str) -> HttpResponse:
    """Show one task."""
    rows = Task.objects.select_related("suite")
    task = get_object_or_404(rows, backend=backend, name=name)
    context = {"nav": "tasks", "task": task}
    return render(request, "environments/task_detail.html", context)
