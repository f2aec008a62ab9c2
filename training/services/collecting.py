"""Demonstrations by the scripted experts, as a data set that a run can learn from."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from agents.policies import fragments
from environments.backends.miniwob.tasks import TASKS_BY_NAME
from training.datasets.demonstrations import Lesson, Rows, demonstrate
from training.datasets.row_file import RowWriter
from training.errors import TaskNotFound
from training.models import Dataset
from training.services.files import storage
from training.states import DatasetStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BACKEND: Final = "miniwob/"
ROWS_FILE: Final = "rows.jsonl"
SEEDS_END: Final = 1_000_000
"""Demonstrations take seeds below; training begins here."""


def lessons_of(
    names: Sequence[str], *, episodes: int, first_seed: int = 0
) -> list[Lesson]:
    """Return the episodes of each task or fragment, tasks in turn.

    Args:
        names: ``miniwob/<task>``, or ``<kind>/<task>`` of a fragment.
        episodes: Of each.
        first_seed: Seeds count from here, for each name alike.

    Raises:
        TaskNotFound: If there is no expert for a name, or the seeds are not for
            demonstrations.
    """
    if first_seed < 0 or first_seed + episodes > SEEDS_END:
        raise TaskNotFound(
            f"demonstrations take seeds from 0 to {SEEDS_END - 1}, "
            f"got {first_seed} … {first_seed + episodes - 1}"
        )
    for name in names:
        if name.removeprefix(BACKEND) not in TASKS_BY_NAME and (
            name not in fragments.NAMES
        ):
            raise TaskNotFound(f"there is no task or fragment {name}")
    return [
        Lesson(
            name=name.removeprefix(BACKEND),
            seed=first_seed + number,
            is_fragment=name in fragments.NAMES,
        )
        for number in range(episodes)
        for name in names
    ]


def dataset_collect(
    *,
    owner: "User",
    name: str,
    lessons: Sequence[Lesson],
    num_slots: int,
    on_progress: Callable[[int, int], None] = lambda done, rows: None,
) -> Dataset:
    """Play lessons on the real pages and keep them as a data set that is ready.

    Args:
        owner: Who may see it.
        name: For people.
        lessons: What to demonstrate.
        num_slots: Pages that are open at a time.
        on_progress: Called with the lessons played and the rows kept so far.

    Raises:
        StartFault: If there is no browser.
    """
    dataset = Dataset(owner=owner, name=name, source_format="oracle")
    folder = storage().dataset(dataset.pk)
    played: dict[Lesson, Rows] = {}

    def keep(lesson: Lesson, rows: Rows) -> None:
        played[lesson] = rows
        on_progress(len(played), sum(map(len, played.values())))

    asyncio.run(
        demonstrate(
            lessons, media_root=storage().root, num_slots=num_slots, on_rows=keep
        )
    )
    with RowWriter(folder / ROWS_FILE) as writer:
        for lesson in lessons:
            # In the order of the lessons, so that the same lessons give the same file.
            writer.write(played[lesson])
    num_rows = writer.num_rows
    dataset.path = storage().relative(folder)
    dataset.status = DatasetStatus.READY if num_rows else DatasetStatus.REJECTED
    dataset.reason = "" if num_rows else "no expert solved any of its tasks"
    dataset.num_read = dataset.num_kept = num_rows
    dataset.save()
    return dataset
