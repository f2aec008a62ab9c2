"""The quickstart: a small run that shows the whole loop, and what it is worth measured."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from redis.exceptions import RedisError

from training.config import RlConfig, SftConfig
from training.errors import QuickstartFailed
from training.models import Evaluation, Run
from training.presets import PRESETS
from training.services.collecting import dataset_collect, lessons_of
from training.services.evaluations import (
    FIRST_HELD_OUT_SEED,
    evaluation_cancel,
    evaluation_create,
)
from training.services.live import frame_store
from training.services.runs import run_create, run_start, run_stop
from training.states import RUN_OVER, EvaluationStatus, RunStatus, TrajectoryStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NAME: Final = "Quickstart"
POLL_S: Final = 0.5
SEEDS_APART: Final = 10_000
"""Held-out seeds of one quickstart seed and the next do not meet."""
CEILING_EPISODES: Final = 300
"""Clean demonstrations of each task, for the supervised comparison."""
CEILING_STEPS: Final = 300
MAX_TRAINING_S: Final = 3600.0
"""A run that takes longer learns nothing: every group of it is flat."""

Say = Callable[[str], None]


def quickstart_start(*, owner: "User | None" = None, seed: int = 0) -> Run:
    """Create and start the quickstart run.

    Args:
        owner: Whose run it is; without one it is the first administrator's, and is
            only started if there has not been any.
        seed: Of the run and, through its tasks' seeds, of everything that it meets.

    Raises:
        QuickstartFailed: If there is no administrator to own it.
    """
    if owner is None:
        before = Run.objects.filter(config__preset="quickstart").first()
        if before is not None:
            return before
        users = get_user_model().objects.filter(is_superuser=True)
        owner = users.order_by("pk").first()
        if owner is None:
            raise QuickstartFailed("there is no administrator to own the run")
    run = run_create(owner=owner, name=NAME, config=quickstart_config(seed=seed))
    return run_start(run_id=run.pk, who=owner.get_username())


def quickstart_config(*, seed: int = 0) -> RlConfig:
    """Return the preset for a seed; each seed trains on episodes of its own."""
    preset = PRESETS["quickstart"]
    first_seed = RlConfig.model_fields["first_seed"].default + seed * 1_000_000
    return RlConfig.model_validate({"first_seed": first_seed} | preset | {"seed": seed})


@dataclass(kw_only=True)
class QuickstartReport:
    """What one JSON line says in the end."""

    task_suite: str
    success_before: float = 0.0
    success_after: float = 0.0
    success_after_sampled: float = 0.0
    ceiling: float | None = None
    episodes: int = 0
    """Finished rollouts that the run consumed, evaluations not counted."""
    optimizer_steps: int = 0
    policy_versions: int = 0
    seconds_to_first_frame: float | None = None
    seconds_training: float = 0.0
    seconds_total: float = 0.0
    by_task: dict[str, dict[str, float]] = field(default_factory=dict)
    """Measurement -> task -> success rate."""
    curve: list[list[float]] = field(default_factory=list)
    """[seconds since the start, optimizer step, success rate of the rollouts]."""
    run: str = ""


@dataclass(kw_only=True)
class Measurement:
    """Runs the quickstart and measures it; needs all services."""

    owner: "User"
    say: Say
    seed: int = 0
    num_episodes: int = 200
    with_ceiling: bool = True
    began: float = field(default_factory=time.monotonic)
    should_end: Callable[[], bool] = lambda: False
    first_frame_s: float | None = None

    def run(self) -> QuickstartReport:
        """Measure before, train, measure after, and compare with the ceiling.

        Raises:
            QuickstartFailed: If a stage does not end as it should.
        """
        config = quickstart_config(seed=self.seed)
        run = run_create(owner=self.owner, name=NAME, config=config)
        report = QuickstartReport(task_suite=" + ".join(config.tasks), run=str(run.pk))
        before = self._evaluate("before", run, policy=config.policy)
        report.success_before = before.success_rate or 0.0
        self._train(run)
        of_run = f"{run.pk}@{run.policy_version}"
        after = self._evaluate("after", run, policy=of_run)
        sampled = self._evaluate("after, sampled", run, policy=of_run, temperature=1.0)
        report.success_after = after.success_rate or 0.0
        report.success_after_sampled = sampled.success_rate or 0.0
        report.by_task = {
            "before": _by_task(before),
            "after": _by_task(after),
            "after_sampled": _by_task(sampled),
        }
        if self.with_ceiling:
            ceiling = self._measure_ceiling(config)
            report.ceiling = ceiling.success_rate
            report.by_task["ceiling"] = _by_task(ceiling)
        self._fill(report, run)
        return report

    def _evaluate(
        self, what: str, run: Run, *, policy: str, temperature: float = 0.0
    ) -> Evaluation:
        self.say(f"Measures {what}: {self.num_episodes} held-out episodes.")
        evaluation = evaluation_create(
            owner=self.owner,
            policy=policy,
            tasks=tuple(run.config.get("tasks") or quickstart_config().tasks),
            num_episodes=self.num_episodes,
            first_seed=FIRST_HELD_OUT_SEED + SEEDS_APART * self.seed,
            temperature=temperature,
            run=run,
            policy_version=run.policy_version,
            label=what,
        )
        try:
            while evaluation.status not in (
                EvaluationStatus.FINISHED,
                EvaluationStatus.CANCELLED,
            ):
                self._wait(evaluation.pk)
                evaluation.refresh_from_db()
        except QuickstartFailed:
            evaluation_cancel(evaluation_id=evaluation.pk)
            raise
        if evaluation.success_rate is None:
            raise QuickstartFailed(f"no episode of the measurement {what} finished")
        self.say(f"  {what}: {evaluation.success_rate:.1%} solved.")
        return evaluation

    def _train(self, run: Run) -> None:
        run_start(run_id=run.pk, who=self.owner.get_username())
        self.say(f"Trains: run {run.pk}.")
        said = -1
        deadline = time.monotonic() + MAX_TRAINING_S
        try:
            while RunStatus(run.status) not in RUN_OVER:
                if time.monotonic() > deadline:
                    raise QuickstartFailed(f"not over after {MAX_TRAINING_S:.0f} s")
                self._wait(run.pk)
                run.refresh_from_db()
                if run.optimizer_step != said and run.optimizer_step:
                    said = run.optimizer_step
                    self.say(f"  optimizer step {said}{_success(run)}")
        except QuickstartFailed:
            run_stop(run_id=run.pk, who=self.owner.get_username())
            raise
        if run.status != RunStatus.SUCCEEDED:
            raise QuickstartFailed(f"the run {run.status}: {run.reason}")
        self.say(f"  the run is over: {run.reason}")

    def _measure_ceiling(self, config: RlConfig) -> Evaluation:
        """Learn the same tasks from clean demonstrations, from the same policy."""
        self.say("Ceiling: demonstrates the same tasks and learns from that.")
        dataset = dataset_collect(
            owner=self.owner,
            name="Quickstart ceiling",
            lessons=lessons_of(config.tasks, episodes=CEILING_EPISODES),
            num_slots=settings.NUM_SLOTS,
        )
        supervised = PRESETS["sft"] | {
            "policy": config.policy,
            "dataset": str(dataset.pk),
            "seed": self.seed,
            "max_optimizer_steps": CEILING_STEPS,
        }
        run = run_create(
            owner=self.owner,
            name="Quickstart ceiling",
            config=SftConfig.model_validate(supervised),
        )
        self._train(run)
        return self._evaluate("ceiling", run, policy=f"{run.pk}@{run.policy_version}")

    def _wait(self, watched: UUID) -> None:
        """Wait a moment, and look whether the first screen has come."""
        if self.should_end():
            raise QuickstartFailed("it was told to end")
        time.sleep(POLL_S if self.first_frame_s is not None else POLL_S / 5)
        if self.first_frame_s is not None:
            return
        try:
            frame_store().watch(str(watched))
            if any(slot.seq for slot in frame_store().slots()):
                self.first_frame_s = time.monotonic() - self.began
                self.say(f"  first screen after {self.first_frame_s:.1f} s")
        except RedisError:
            return

    def _fill(self, report: QuickstartReport, run: Run) -> None:
        finished = run.trajectories.filter(status=TrajectoryStatus.FINISHED)
        report.episodes = finished.count()
        report.optimizer_steps = run.optimizer_step
        report.policy_versions = run.policy_version
        report.seconds_to_first_frame = self.first_frame_s
        if run.started_at and run.finished_at:
            spent = run.finished_at - run.started_at
            report.seconds_training = spent.total_seconds()
            report.curve = [
                [
                    round((row.at - run.started_at).total_seconds(), 1),
                    row.step,
                    round(row.values["rollout/success_rate"], 4),
                ]
                for row in run.metrics.filter(source="rollouts")
                if "rollout/success_rate" in row.values
            ]
        report.seconds_total = time.monotonic() - self.began


def _by_task(evaluation: Evaluation) -> dict[str, float]:
    return {
        task: count["solved"] / count["episodes"]
        for task, count in evaluation.results.items()
    }


def _success(run: Run) -> str:
    row = run.metrics.filter(source="rollouts").order_by("-seq").first()
    if row is None or "rollout/success_rate" not in row.values:
        return ""
    return f", rollouts {row.values['rollout/success_rate']:.0%} solved"
