"""Trials in a file, so that a long series can be broken off and go on."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.policies.experts import EXPERTS, HELPERS
from agents.policies.trials import Trial
from environments.definitions import TaskDefinition


class TrialFile:
    """JSON lines, one per episode; what an expert did before it was changed is passed by."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def read(self, tasks: Sequence[TaskDefinition]) -> dict[tuple[str, int], Trial]:
        """Return what is known already, by task and seed."""
        wanted = {task.name: _fingerprint(task) for task in tasks}
        known: dict[tuple[str, int], Trial] = {}
        for row in self._rows():
            if row.pop("expert", None) == wanted.get(row["task"], ""):
                trial = Trial(**row)
                known[trial.task, trial.seed] = trial
        return known

    def append(self, task: TaskDefinition, trial: Trial) -> None:
        """Add an episode."""
        row = {"expert": _fingerprint(task), **dataclasses.asdict(trial)}
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def _rows(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        rows = []
        for line in self._path.read_text().splitlines():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:  # The last line of a series that was killed.
                continue
        return rows


def _fingerprint(task: TaskDefinition) -> str:
    """Return what tells apart two versions of a task's expert and of its limit."""
    recipe = f"{EXPERTS[task.name]} {HELPERS} {task.max_steps}"
    return hashlib.sha256(recipe.encode()).hexdigest()[:12]
