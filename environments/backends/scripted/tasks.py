"""The tasks of the scripted world."""

from typing import Final

from environments.definitions import TaskDefinition

BACKEND: Final = "scripted"

TASKS: Final = (
    TaskDefinition(
        backend=BACKEND,
        name="click-square",
        title="Click the … square.",
        max_steps=2,
        tags=("click",),
        is_official=False,
    ),
    TaskDefinition(
        backend=BACKEND,
        name="click-two",
        title="Click the … square, then the … square.",
        max_steps=4,
        tags=("click", "several-steps"),
        is_official=False,
    ),
    TaskDefinition(
        backend=BACKEND,
        name="click-missing",
        title="Click the … square. (There is none.)",
        max_steps=2,
        tags=("click",),
        is_official=False,
        is_feasible=False,
    ),
)
