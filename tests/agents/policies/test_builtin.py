import asyncio

import pytest
from PIL import Image

from agents.policies.builtin import builtin_policy, has_expert
from environments.errors import UnknownTask
from environments.types import Box, Observation, TaskSpec

AREA = Box(left=0, top=50, right=160, bottom=210)


def clicks(seed, num_clicks=50):
    observation = Observation(
        screen=Image.new("RGB", (160, 210)), instruction="", task_area=AREA
    )
    policy = builtin_policy(
        "random",
        task=TaskSpec(backend="scripted", name="click-square"),
        environment=None,
        seed=seed,
    )
    return [
        asyncio.run(policy.decide(observation, ())).action for _ in range(num_clicks)
    ]


def test_chance_clicks_all_over_the_tasks_area_and_nowhere_else():
    points = [(click.x * 160, click.y * 210) for click in clicks(seed=1)]

    assert all(50 <= y <= 210 for _, y in points)
    assert min(x for x, _ in points) < 40
    assert max(x for x, _ in points) > 120
    assert min(y for _, y in points) < 90
    assert max(y for _, y in points) > 170


def test_chance_with_the_same_seed_clicks_the_same_points():
    assert clicks(seed=3) == clicks(seed=3)
    assert clicks(seed=3) != clicks(seed=4)


def test_an_oracle_is_offered_only_where_there_is_an_expert():
    task = TaskSpec(backend="miniwob", name="no-such-page")

    with pytest.raises(UnknownTask, match="miniwob/no-such-page"):
        builtin_policy("oracle", task=task, environment=None, seed=0)
    assert has_expert("miniwob", "click-test")
    assert not has_expert("scripted", "click-test")
