"""``manage.py oracle_table``: how reliably the experts solve each MiniWoB task."""

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.policies.experts import EXPERTS
from agents.policies.oracle_table import RELIABLE, solved_share, summary, table
from agents.policies.trial_file import TrialFile
from agents.policies.trials import Trial, play_all
from environments.backends.miniwob.tasks import LEFT_OUT, NOTES, TASKS
from environments.definitions import TaskDefinition
from environments.errors import UnknownTask
from environments.pool import SlotPool
from environments.registry import find_task

BACKEND: Final = "miniwob"
REPORT_EVERY: Final = 500
HEAD: Final = """# MiniWoB++ tasks

Made by `manage.py oracle_table --seeds {seeds} --out docs/reference/miniwob.md`: an expert played {seeds} seeds of each task
through the studio's own slots, several pages at a time. {summary}.

- **Steps**: actions of the expert in solved episodes, on average (and at most). **Limit**: actions after which an episode is cut off.
- **Solved**: episodes whose reward, the page's own clipped to 0…1, is above 0.5. **Raw reward**: the page's own, -1…1, on average.
- **From pixels**: *yes* where it was shown by playing: the expert may read the page, but acts by the screen's mouse and keys alone
  and uses nothing that a person could not see or find out there. *In part* where the note says what stands in the way.
- **timing** means that the screen changes by itself: the same seed begins in the same way, and what comes depends on when one looks.
- Episodes have no clock: the page's own limit of 10 s or so is lifted. Where a page ends an episode by itself, the note says so.
"""
TAIL: Final = """
## Left out

Pages of the package that are no tasks:

{left_out}
"""


class Command(BaseCommand):
    """Plays in this process, in a browser of its own; no other has to run."""

    help = "Let the experts play the MiniWoB tasks and write down what came of it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--tasks", nargs="+", metavar="NAME", help="default: all")
        parser.add_argument("--seeds", type=int, default=50, help="of each task")
        parser.add_argument("--first-seed", type=int, default=0)
        parser.add_argument("--jobs", type=int, default=8, help="pages at a time")
        parser.add_argument(
            "--results",
            type=Path,
            default=settings.OCHE_HOME / "oracle-trials.jsonl",
            help="episodes that were played, which are not played again",
        )
        parser.add_argument("--afresh", action="store_true", help="play them again")
        parser.add_argument("--out", type=Path, help="Markdown file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        """Play, print what failed, and write the table."""
        names = options["tasks"] or [task.name for task in TASKS if task.has_oracle]
        try:
            tasks = [
                find_task(BACKEND, name.removeprefix("miniwob/")) for name in names
            ]
        except UnknownTask as error:
            raise CommandError(str(error)) from error
        if missing := [task.name for task in tasks if task.name not in EXPERTS]:
            raise CommandError(f"no expert for {', '.join(missing)}")
        seeds = range(options["first_seed"], options["first_seed"] + options["seeds"])
        trials = self._trials(tasks, seeds, options)
        self._tell_failures(trials)
        self.stdout.write(summary(tasks, trials))
        if options["out"]:
            options["out"].write_text(_document(trials, len(seeds)))
            self.stdout.write(f"wrote {options['out']}")

    def _trials(
        self, tasks: list[TaskDefinition], seeds: range, options: dict[str, Any]
    ) -> dict[str, list[Trial]]:
        file = TrialFile(options["results"])
        known = {} if options["afresh"] else file.read(tasks)
        by_name = {task.name: task for task in tasks}
        num_played = 0

        def on_trial(trial: Trial) -> None:
            nonlocal num_played
            file.append(by_name[trial.task], trial)
            known[trial.task, trial.seed] = trial
            num_played += 1
            if num_played % REPORT_EVERY == 0:
                self.stdout.write(f"{num_played} episodes")

        to_play = [
            (task, seed)
            for task in tasks
            for seed in seeds
            if (task.name, seed) not in known
        ]
        pool = SlotPool(worker="oracle-table", num_slots=options["jobs"])
        try:
            pool.run(play_all(pool, to_play, on_trial=on_trial))
        finally:
            pool.close()
        found: dict[str, list[Trial]] = defaultdict(list)
        for (name, seed), trial in sorted(known.items()):
            if seed in seeds:
                found[name].append(trial)
        return found

    def _tell_failures(self, trials: dict[str, list[Trial]]) -> None:
        for name, some in trials.items():
            if solved_share(some) == 1:
                continue
            mark = "" if solved_share(some) >= RELIABLE else " (too few)"
            self.stdout.write(f"{name}: {solved_share(some):.0%} solved{mark}")
            for trial in some:
                if not trial.is_solved:
                    why = trial.fault or f"raw reward {trial.raw_reward}"
                    self.stdout.write(f"  seed {trial.seed}: {why[:160]}")


def _document(trials: dict[str, list[Trial]], num_seeds: int) -> str:
    left_out = "\n".join(f"- `{name}`: {reason}." for name, reason in LEFT_OUT.items())
    return (
        HEAD.format(seeds=num_seeds, summary=summary(TASKS, trials))
        + table(TASKS, trials, NOTES)
        + TAIL.format(left_out=left_out)
    )
