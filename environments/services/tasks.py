"""Rows of suites and tasks, made from the backends' own lists."""

from typing import Final

from django.db import transaction

from environments.definitions import TaskDefinition
from environments.models import Task, TaskSuite
from environments.registry import BACKENDS, task_specs

_SUITES: Final = {
    "miniwob": (
        "MiniWoB++",
        "Small web pages with one task each; the official pages, unchanged.",
    ),
    "miniwob-flight": (
        "FlightWoB",
        "Search forms of airlines, of the size of a phone; the official pages.",
    ),
    "oche": (
        "Oche pages",
        "Pages of ours in the manner of MiniWoB++; no benchmark knows them.",
    ),
    "scripted": (
        "Scripted world",
        "Coloured squares drawn without a browser, for tests and demos.",
    ),
}

_COPIED: Final = (
    "title",
    "max_steps",
    "category",
    "typical_steps",
    "needs_text",
    "needs_drag",
    "needs_scroll",
    "is_timed",
    "has_oracle",
    "is_official",
    "is_feasible",
)
"""What a row says in the same words as its definition."""


@transaction.atomic
def tasks_sync() -> list[Task]:
    """Make the rows say what the backends say; does nothing the second time.

    A task that a backend no longer offers keeps its row: trajectories refer to it.

    Returns:
        The rows of all tasks that are offered now.
    """
    suites = {
        slug: TaskSuite.objects.update_or_create(
            slug=slug, defaults={"name": name, "description": description}
        )[0]
        for slug, (name, description) in _SUITES.items()
    }
    definitions = [task for backend in BACKENDS for task in task_specs(backend)]
    return [_task_sync(definition, suites) for definition in definitions]


def _task_sync(definition: TaskDefinition, suites: dict[str, TaskSuite]) -> Task:
    task, _ = Task.objects.update_or_create(
        backend=definition.backend,
        name=definition.name,
        defaults={
            "suite": suites[definition.suite or definition.backend],
            "tags": list(definition.tags),
            **{name: getattr(definition, name) for name in _COPIED},
        },
    )
    return task
