"""Evaluations: held-out episodes of one fixed policy version, counted when all are over."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.policies import builtin
from environments.models import Task
from training.errors import EvaluationInvalid, PolicyNotFound
from training.models import Checkpoint, Evaluation, Run, Trajectory
from training.rollouts.types import EndReason
from training.selectors import tasks_by_name
from training.services import messages
from training.services.commits import after_commit
from training.services.measuring import metrics_record
from training.services.policies import is_served, policy_resolve
from training.services.syncing import workers_alive
from training.services.trajectories import (
    MAX_TRIES,
    trajectories_cancel,
    trajectories_roll_again,
)
from training.states import EvaluationStatus, TrajectoryStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_IN_FLIGHT: Final = 16
"""Rollouts of one evaluation that are queued or running; the rest waits here."""
FIRST_HELD_OUT_SEED: Final = 900_000_000
"""Seeds from here on are used for nothing but evaluations."""
OPEN: Final = (EvaluationStatus.QUEUED, EvaluationStatus.RUNNING)


def evaluation_create(
    *,
    owner: "User",
    policy: str,
    tasks: Sequence[str],
    num_episodes: int,
    first_seed: int = FIRST_HELD_OUT_SEED,
    temperature: float = 0.0,
    run: Run | None = None,
    policy_version: int = 0,
    label: str = "",
) -> Evaluation:
    """Begin to measure a policy; episode i plays task i mod len(tasks).

    Args:
        owner: Who may see it.
        policy: A reference, see ``services.policies``.
        tasks: ``<backend>/<name>`` each.
        num_episodes: Over all tasks together.
        first_seed: Episode i has seed ``first_seed`` + i.
        temperature: 0 is greedy.
        run: The run that it is a measurement of.
        policy_version: The version that ``policy`` stands for.
        label: For people.

    Raises:
        PolicyNotFound: If there is no such policy.
        TaskNotFound: If a task is not in the catalogue.
        EvaluationInvalid: If there is no task or no episode, if training may have used
            the seeds, or if the oracle has no expert for a task.
    """
    if not tasks or num_episodes < 1:
        raise EvaluationInvalid("an evaluation needs a task and an episode")
    if first_seed < FIRST_HELD_OUT_SEED:
        raise EvaluationInvalid(
            f"seeds below {FIRST_HELD_OUT_SEED} are for training, got {first_seed}"
        )
    if is_served(policy):
        policy_resolve(reference=policy, owner=owner)
    rows = tasks_by_name(tasks).values()
    strange = [t for t in rows if policy == builtin.ORACLE and not _has_expert(t)]
    if strange:
        raise EvaluationInvalid(
            f"no expert is written for {', '.join(map(str, strange))}: the policy "
            f"{policy!r} cannot play it"
        )
    with transaction.atomic():
        evaluation = Evaluation.objects.create(
            owner=owner,
            run=run,
            label=label,
            policy=policy,
            policy_version=policy_version,
            tasks=list(tasks),
            num_episodes=num_episodes,
            first_seed=first_seed,
            temperature=temperature,
        )
        _wake_after_commit(evaluation.pk)
    return evaluation


def evaluation_cancel(*, evaluation_id: UUID) -> None:
    """End an evaluation; what it measured so far is not reported."""
    with transaction.atomic():
        evaluation = Evaluation.objects.select_for_update().get(pk=evaluation_id)
        if evaluation.status in OPEN:
            _close(evaluation, EvaluationStatus.CANCELLED)


def evaluations_to_advance() -> list[UUID]:
    """Return the evaluations that somebody has to look at."""
    return list(Evaluation.objects.filter(status__in=OPEN).values_list("pk", flat=True))


def evaluation_advance(*, evaluation_id: UUID) -> None:
    """Do what can be done for an evaluation now; any number of times, by anyone."""
    messages.advance_heard(evaluation_id, kind="evaluation")
    evaluation = Evaluation.objects.select_related("owner").get(pk=evaluation_id)
    if evaluation.status not in OPEN:
        return
    try:
        is_ready = _is_policy_ready(evaluation)
    except PolicyNotFound:
        evaluation_cancel(evaluation_id=evaluation_id)
        return
    if evaluation.status == EvaluationStatus.QUEUED:
        # Only running ones count when the weights to be served are worked out.
        Evaluation.objects.filter(
            pk=evaluation_id, status=EvaluationStatus.QUEUED
        ).update(status=EvaluationStatus.RUNNING)
    if not is_ready:
        messages.send_sync()
        return
    with transaction.atomic():
        # Locked, so that two managers dispatch no episode twice.
        evaluation = Evaluation.objects.select_for_update().get(pk=evaluation_id)
        if evaluation.status == EvaluationStatus.RUNNING:
            _advance(evaluation)


def _has_expert(task: Task) -> bool:
    return builtin.has_expert(task.backend, task.name)


def _is_policy_ready(evaluation: Evaluation) -> bool:
    """Return whether somebody can play.

    Raises:
        PolicyNotFound: If the policy is gone.
    """
    if not is_served(evaluation.policy):
        return True
    served = policy_resolve(reference=evaluation.policy, owner=evaluation.owner)
    return any(served.model in worker.models for worker in workers_alive())


def _advance(evaluation: Evaluation) -> None:
    rows = list(evaluation.trajectories.order_by("index", "dispatched_at"))
    finished = {r.index for r in rows if r.status == TrajectoryStatus.FINISHED}
    tries = Counter(r.index for r in rows)
    faulted = {row.index: row for row in rows if row.status == TrajectoryStatus.FAULTED}
    busy = {
        row.index
        for row in rows
        if row.status in (TrajectoryStatus.QUEUED, TrajectoryStatus.RUNNING)
    }
    broken = {i: row for i, row in faulted.items() if i not in busy | finished}
    given_up = {index for index in broken if tries[index] >= MAX_TRIES}
    if len(finished) != evaluation.num_finished:
        evaluation.num_finished = len(finished)
        evaluation.save(update_fields=["num_finished"])
    if len(finished) + len(given_up) >= evaluation.num_episodes:
        _finish(evaluation)
        return
    room = MAX_IN_FLIGHT - len(busy)
    again = [row for index, row in broken.items() if index not in given_up][:room]
    fresh = trajectories_roll_again(again)
    first = max(tries, default=-1) + 1
    last = min(evaluation.num_episodes, first + room - len(again))
    fresh += _dispatch(evaluation, range(first, last))
    ids = [row.pk for row in fresh]
    after_commit(messages.send_trajectories, ids)


def _dispatch(evaluation: Evaluation, indices: range) -> list[Trajectory]:
    if not indices:
        return []
    tasks = list(tasks_by_name(evaluation.tasks).values())
    return Trajectory.objects.bulk_create(
        Trajectory(
            owner_id=evaluation.owner_id,
            evaluation=evaluation,
            task=tasks[index % len(tasks)],
            seed=evaluation.first_seed + index,
            index=index,
            step_limit=tasks[index % len(tasks)].max_steps,
        )
        for index in indices
    )


def _finish(evaluation: Evaluation) -> None:
    """Count; episodes that kept breaking are left out, they are no failures."""
    counts: dict[str, dict[str, int]] = defaultdict(
        lambda: {"episodes": 0, "solved": 0}
    )
    rows = evaluation.trajectories.filter(status=TrajectoryStatus.FINISHED)
    for row in rows.select_related("task"):
        counts[str(row.task)]["episodes"] += 1
        counts[str(row.task)]["solved"] += row.end_reason == EndReason.SOLVED
    total = sum(count["episodes"] for count in counts.values())
    if total == 0:
        _close(evaluation, EvaluationStatus.CANCELLED)
        return
    evaluation.results = dict(counts)
    evaluation.success_rate = sum(c["solved"] for c in counts.values()) / total
    evaluation.save(update_fields=["results", "success_rate"])
    _close(evaluation, EvaluationStatus.FINISHED)
    _measure(evaluation, total)


def _close(evaluation: Evaluation, status: EvaluationStatus) -> None:
    trajectories_cancel(evaluation.trajectories.all())
    evaluation.status = status
    evaluation.finished_at = timezone.now()
    evaluation.save(update_fields=["status", "finished_at"])


def _measure(evaluation: Evaluation, num_episodes: int) -> None:
    """Put a greedy evaluation of a run's version on the run's charts."""
    step = _step_of(evaluation)
    if evaluation.temperature > 0 or step is None or evaluation.run_id is None:
        return
    run = Run.objects.select_for_update().get(pk=evaluation.run_id)
    metrics_record(
        run,
        source="evaluation",
        step=step,
        values={
            "evaluation/success_rate": evaluation.success_rate or 0.0,
            "evaluation/num_episodes": num_episodes,
        },
    )


def _step_of(evaluation: Evaluation) -> int | None:
    """Return the optimizer steps behind the evaluated version, if it is a run's."""
    if evaluation.run_id is None:
        return None
    if evaluation.policy_version == 0:
        return 0
    checkpoint = Checkpoint.objects.filter(
        run_id=evaluation.run_id, version=evaluation.policy_version
    ).first()
    return checkpoint.step if checkpoint else None


def _wake_after_commit(evaluation_id: UUID) -> None:
    after_commit(messages.send_advance_evaluation, evaluation_id)
