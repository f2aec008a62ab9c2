"""New groups: as many as admission allows, each with its task, seed and limits."""

from typing import Final

from environments.models import Task
from training.config import RlConfig
from training.models import Group, Run, Trajectory
from training.scheduler import PlannedGroup, num_groups_admitted, plan_groups
from training.selectors import num_unused_rollouts, tasks_by_name
from training.services import messages
from training.services.commits import after_commit
from training.services.leases import RunLease, owned_run
from training.states import RunStatus

MAX_GROUPS_AT_ONCE: Final = 64
"""Keeps the transaction short; the next look dispatches the rest."""


def groups_dispatch(lease: RunLease, *, config: RlConfig) -> int:
    """Queue the rollouts that admission allows; returns how many.

    Raises:
        LeaseLost: If another manager took over.
        TaskNotFound: If a task has left the catalogue.
    """
    run = Run.objects.get(pk=lease.run_id)
    if _num_admitted(run, config) == 0:
        return 0
    tasks = tasks_by_name(config.tasks)
    with owned_run(lease) as run:
        if run.status != RunStatus.RUNNING:
            # Failed by its trainer, or stopped or paused by hand, in this very moment.
            return 0
        count = min(_num_admitted(run, config), MAX_GROUPS_AT_ONCE)
        plan = plan_groups(config=config, first=run.next_seed, count=count)
        rows = _create(run, plan, tasks, config)
        run.next_seed += count
        run.save(update_fields=["next_seed"])
        ids = [row.pk for row in rows]
        after_commit(messages.send_trajectories, ids)
    return len(rows)


def _num_admitted(run: Run, config: RlConfig) -> int:
    return num_groups_admitted(
        config=config,
        num_unused_rollouts=num_unused_rollouts(run.pk),
        num_steps_left=config.max_optimizer_steps - run.optimizer_step,
    )


def _create(
    run: Run, plan: list[PlannedGroup], tasks: dict[str, Task], config: RlConfig
) -> list[Trajectory]:
    groups = Group.objects.bulk_create(
        Group(
            run=run,
            task=tasks[planned.task],
            seed=planned.seed,
            num_rollouts=config.grpo.group_size,
            step_limit=min(config.rollout.max_steps, tasks[planned.task].max_steps),
            dispatched_version=run.policy_version,
        )
        for planned in plan
    )
    return Trajectory.objects.bulk_create(
        Trajectory(
            owner_id=run.owner_id,
            run=run,
            group=group,
            task_id=group.task_id,
            seed=group.seed,
            index=index,
            step_limit=group.step_limit,
        )
        for group in groups
        for index in range(group.num_rollouts)
    )
