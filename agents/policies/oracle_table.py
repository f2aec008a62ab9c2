"""What trials of the experts show of each task, as a table for people; no I/O."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agents.policies.trials import Trial
from environments.definitions import TaskDefinition

RELIABLE: Final = 0.99
"""Share of episodes that an expert solves, at least."""

_HEADER: Final = (
    "Task",
    "Instruction",
    "Needs",
    "Steps",
    "Limit",
    "Solved",
    "Raw reward",
    "From pixels",
    "Note",
)


def solved_share(trials: Sequence[Trial]) -> float:
    """Return the share of solved episodes, 0…1; there is at least one."""
    return sum(trial.is_solved for trial in trials) / len(trials)


def table(
    tasks: Sequence[TaskDefinition],
    trials: Mapping[str, Sequence[Trial]],
    notes: Mapping[str, str],
) -> str:
    """Return one Markdown table per kind of task.

    Args:
        tasks: All that are offered.
        trials: By the task's name; a task without any was not played.
        notes: By the task's name: what a person should know.
    """
    lines: list[str] = []
    for kind in dict.fromkeys(task.category for task in tasks):
        lines += ["", f"## {kind.capitalize()}", ""]
        lines += [_line(_HEADER), _line(["---"] * len(_HEADER))]
        for task in tasks:
            if task.category == kind:
                note = notes.get(task.name, "")
                lines.append(_line(_cells(task, trials.get(task.name, ()), note)))
    return "\n".join(lines) + "\n"


def summary(
    tasks: Sequence[TaskDefinition], trials: Mapping[str, Sequence[Trial]]
) -> str:
    """Return in a sentence how many tasks there are and how many are solved."""
    played = [trials[task.name] for task in tasks if trials.get(task.name)]
    num_reliable = sum(solved_share(some) >= RELIABLE for some in played)
    return (
        f"{len(tasks)} tasks; {len(played)} are played by an expert, which solves "
        f"{num_reliable} of them in at least {RELIABLE:.0%} of their episodes"
    )


def _cells(task: TaskDefinition, trials: Sequence[Trial], note: str) -> Iterator[str]:
    yield f"`{task.name}`"
    yield task.title
    yield ", ".join(_needs(task)) or "–"
    if trials:
        steps = [trial.num_steps for trial in trials if trial.is_solved] or [0]
        mean = sum(steps) / len(steps)
        yield f"{mean:.1f}" + (f" ({max(steps)})" if max(steps) > mean else "")
    else:
        yield "–"
    yield str(task.max_steps)
    if trials:
        yield f"{sum(trial.is_solved for trial in trials)}/{len(trials)}"
        raw = [trial.raw_reward for trial in trials if trial.raw_reward is not None]
        yield f"{sum(raw) / len(raw):.2f}" if raw else "–"
    else:
        yield from ("–", "–")
    yield _from_pixels(task, trials)
    yield "; ".join([*task.tags, *([note] if note else [])])


def _needs(task: TaskDefinition) -> Iterator[str]:
    if task.needs_text:
        yield "typing"
    if task.needs_drag:
        yield "dragging"
    if task.needs_scroll:
        yield "scrolling"
    if task.is_timed:
        yield "timing"


def _from_pixels(task: TaskDefinition, trials: Sequence[Trial]) -> str:
    if not trials:
        return "in part: see the note" if not task.has_oracle else "not played"
    if solved_share(trials) >= RELIABLE:
        return "yes"
    return "not always"


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    escaped = (cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return "| " + " | ".join(escaped) + " |"
