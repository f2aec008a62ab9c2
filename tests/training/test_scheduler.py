import pytest

from training.config import RlConfig
from training.scheduler import num_groups_admitted, plan_groups


def config(**changes):
    values = {
        "kind": "rl",
        "tasks": ["miniwob/a", "miniwob/b"],
        "grpo": {"group_size": 4, "groups_per_step": 3},
        "asynchrony": {"max_staleness": 2},
        "first_seed": 1_000_000,
    }
    return RlConfig.model_validate(values | changes)


@pytest.mark.parametrize(
    ("unused", "groups"),
    [
        (0, 9),  # (2 + 1) batches of 3 groups of 4: 36 rollouts.
        (4, 8),
        (30, 1),  # 6 are left, which is one group and a half.
        (33, 0),
        (36, 0),
        (99, 0),
    ],
)
def test_rollouts_run_at_most_three_batches_ahead(unused, groups):
    admitted = num_groups_admitted(
        config=config(), num_unused_rollouts=unused, num_steps_left=10
    )

    assert admitted == groups


def test_on_policy_means_one_batch_at_a_time():
    on_policy = config(asynchrony={"max_staleness": 0})

    assert (
        num_groups_admitted(config=on_policy, num_unused_rollouts=0, num_steps_left=10)
        == 3
    )
    assert (
        num_groups_admitted(config=on_policy, num_unused_rollouts=12, num_steps_left=10)
        == 0
    )


@pytest.mark.parametrize(("left", "groups"), [(2, 6), (1, 3), (0, 0), (-1, 0)])
def test_nothing_is_begun_that_no_step_is_left_for(left, groups):
    admitted = num_groups_admitted(
        config=config(), num_unused_rollouts=0, num_steps_left=left
    )

    assert admitted == groups


def test_groups_take_the_tasks_in_turn_and_the_seeds_in_a_row():
    plan = plan_groups(config=config(), first=3, count=3)

    assert [(group.task, group.seed) for group in plan] == [
        ("miniwob/b", 1_000_003),
        ("miniwob/a", 1_000_004),
        ("miniwob/b", 1_000_005),
    ]
