"""What to roll out next: how much, and which tasks and seeds. No Django, no I/O."""

from dataclasses import dataclass

from training.config import RlConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedGroup:
    """A group that is yet to be rolled out."""

    task: str
    """``<backend>/<name>``."""
    seed: int


def num_groups_admitted(
    *, config: RlConfig, num_unused_rollouts: int, num_steps_left: int
) -> int:
    """Return how many groups may be dispatched now.

    Rollouts in flight and finished ones that no optimizer step has used stay at or
    below (max_staleness + 1) · batch: what lies further ahead would be too stale
    when its turn comes. A batch in training is not used yet. Nor is anything begun
    that the remaining optimizer steps cannot use.

    Args:
        config: The run's configuration.
        num_unused_rollouts: In flight, waiting for their siblings, ready or in a
            batch that is not trained; those of dropped groups do not count.
        num_steps_left: Optimizer steps that the run still has to do.
    """
    grpo = config.grpo
    batches = min(config.asynchrony.max_staleness + 1, max(0, num_steps_left))
    limit = batches * grpo.groups_per_step * grpo.group_size
    return max(0, limit - num_unused_rollouts) // grpo.group_size


def plan_groups(*, config: RlConfig, first: int, count: int) -> list[PlannedGroup]:
    """Return groups ``first`` … ``first + count - 1`` of a run, counted from 0.

    Group k has task k mod (number of tasks) and seed ``first_seed`` + k.
    """
    return [
        PlannedGroup(
            task=config.tasks[k % len(config.tasks)], seed=config.first_seed + k
        )
        for k in range(first, first + count)
    ]
