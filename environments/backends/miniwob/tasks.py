"""The MiniWoB tasks that are offered: the table ``tasks.toml``, and pages of ours."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from environments.definitions import TaskDefinition

BACKEND: Final = "miniwob"
WIDTH: Final = 160
HEIGHT: Final = 210
FLIGHT_WIDTH: Final = 375
FLIGHT_HEIGHT: Final = 667

LEFT_OUT: Final = {
    "hover-shape": "its page computes a score and never gives it: no episode ends",
}
"""Pages of the package that are no tasks, and why."""

_TABLE: Final = Path(__file__).with_name("tasks.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskPage:
    """What the backend itself has to know of a task."""

    path: str
    """Of its page, below the site's root."""
    width: int = WIDTH
    height: int = HEIGHT
    has_bar: bool = True
    """Whether the page repeats the instruction above the task."""
    reload: bool = False
    """Whether an episode leaves something behind that only a fresh page is free of."""


def _definition(name: str, category: str, entry: dict[str, Any]) -> TaskDefinition:
    needs = entry.get("needs", ())
    variant = entry.get("variant")
    return TaskDefinition(
        backend=BACKEND,
        name=name,
        title=entry["title"],
        max_steps=entry.get("max_steps", 2 * entry["steps"]),
        suite="miniwob-flight" if _is_flight(name) else "miniwob",
        tags=(
            *((f"variant of {variant}",) if variant else ()),
            *(("memory",) if "memory" in needs else ()),
        ),
        category=category,
        typical_steps=entry["steps"],
        needs_text="text" in needs,
        needs_drag="drag" in needs,
        needs_scroll="scroll" in needs,
        is_timed=entry.get("timed", False),
        has_oracle=entry.get("oracle", True),
    )


def _page(name: str, entry: dict[str, Any]) -> TaskPage:
    if _is_flight(name):
        return TaskPage(
            path=f"{name.replace('.', '/')}/wrapper.html",
            width=FLIGHT_WIDTH,
            height=FLIGHT_HEIGHT,
            has_bar=False,
        )
    return TaskPage(path=f"miniwob/{name}.html", reload=entry.get("reload", False))


def _is_flight(name: str) -> bool:
    return name.startswith("flight.")


def _rows() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for category, entries in tomllib.loads(_TABLE.read_text()).items():
        for name, entry in entries.items():
            yield name, category, entry


_OURS: Final = TaskDefinition(
    backend=BACKEND,
    name="fill-nth",
    title='Enter "…" into the … input textbox and press Submit.',
    max_steps=6,
    suite="oche",
    category="typing",
    typical_steps=3,
    needs_text=True,
    has_oracle=True,
    is_official=False,
)

TASKS: Final = (*(_definition(*row) for row in _rows()), _OURS)
TASKS_BY_NAME: Final = {task.name: task for task in TASKS}
PAGES: Final = {
    **{name: _page(name, entry) for name, _, entry in _rows()},
    _OURS.name: TaskPage(path=f"miniwob/{_OURS.name}.html"),
}
"""By the task's name."""
NOTES: Final = {name: entry["note"] for name, _, entry in _rows() if "note" in entry}
"""By the task's name: what a person who trains on it should know."""
