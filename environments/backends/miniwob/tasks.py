"""The MiniWoB tasks that are offered."""

from typing import Final

from environments.definitions import TaskDefinition

BACKEND: Final = "miniwob"


def _official(name: str, title: str, max_steps: int, *tags: str) -> TaskDefinition:
    return TaskDefinition(
        backend=BACKEND, name=name, title=title, max_steps=max_steps, tags=tags
    )


def _ours(name: str, title: str, max_steps: int, *tags: str) -> TaskDefinition:
    return TaskDefinition(
        backend=BACKEND,
        name=name,
        title=title,
        max_steps=max_steps,
        tags=tags,
        suite="oche",
        is_official=False,
    )


TASKS: Final = (
    _official("click-button", 'Click on the "…" button.', 2, "click", "reading"),
    _official(
        "click-button-sequence",
        "Click button ONE, then click button TWO.",
        4,
        "click",
        "several-steps",
    ),
    _official(
        "click-collapsible",
        "Expand the section below and click submit.",
        4,
        "click",
        "several-steps",
    ),
    _official("click-color", "Click on the … colored box.", 2, "click"),
    _official("click-dialog", 'Close the dialog box by clicking the "x".', 2, "click"),
    _official(
        "click-dialog-2",
        'Click the button in the dialog box labeled "…".',
        2,
        "click",
        "reading",
    ),
    _official("click-link", 'Click on the link "…".', 2, "click", "reading"),
    _official(
        "click-option",
        "Select … and click Submit.",
        4,
        "click",
        "reading",
        "several-steps",
    ),
    _official("click-tab", "Click on Tab #….", 2, "click", "reading"),
    _official("click-test", "Click the button.", 2, "click"),
    _official("click-test-2", "Click button ONE.", 2, "click", "reading"),
    _official("click-widget", 'Click on a "…" widget.', 2, "click"),
    _official(
        "enter-password",
        'Enter the password "…" into both text fields and press submit.',
        10,
        "typing",
        "several-steps",
    ),
    _official(
        "enter-text",
        'Enter "…" into the text field and press Submit.',
        6,
        "typing",
        "several-steps",
    ),
    _official(
        "enter-text-dynamic",
        'Enter "…" into the text field and press Submit.',
        6,
        "typing",
        "several-steps",
    ),
    _official("focus-text", "Focus into the textbox.", 2, "click"),
    _official("focus-text-2", "Focus into the … input textbox.", 2, "click"),
    _official(
        "login-user",
        'Enter the username "…" and the password "…" into the text fields and press '
        "login.",
        10,
        "typing",
        "several-steps",
    ),
    _ours(
        "fill-nth",
        'Enter "…" into the … input textbox and press Submit.',
        6,
        "typing",
        "several-steps",
    ),
)

TASKS_BY_NAME: Final = {task.name: task for task in TASKS}
