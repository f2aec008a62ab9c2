import pytest

from environments.actions import Click, Complete, Fail, Type
from environments.backends.scripted.environment import ScriptedEnvironment
from environments.types import Box, TaskSpec

pytestmark = pytest.mark.asyncio


def _spec(name: str) -> TaskSpec:
    return TaskSpec(backend="scripted", name=name)


def _centre(box: Box) -> Click:
    return Click(x=(box.left + box.right) / 320, y=(box.top + box.bottom) / 420)


async def test_the_square_is_where_and_in_the_colour_that_is_said():
    world = ScriptedEnvironment()
    for seed in range(30):
        seen = await world.reset(_spec("click-square"), seed)
        box = world.goal.box

        inside = seen.screen.crop((box.left, box.top, box.right, box.bottom))

        assert len(inside.getcolors()) == 1
        assert inside.getpixel((0, 0)) != (255, 255, 255)
        assert seen.instruction == f"Click the {world.goal.colour} square."
        assert box.top >= seen.task_area.top
        assert box.bottom <= seen.task_area.bottom


async def test_a_click_on_the_square_is_worth_one():
    world = ScriptedEnvironment()
    await world.reset(_spec("click-square"), 1)

    result = await world.step(_centre(world.goal.box))

    assert (result.terminated, result.reward) == (True, 1.0)


async def test_a_click_beside_it_ends_the_episode_at_nothing():
    world = ScriptedEnvironment()
    await world.reset(_spec("click-square"), 1)

    result = await world.step(Click(x=0.5, y=0.1))

    assert (result.terminated, result.reward) == (True, 0.0)


async def test_two_squares_want_two_clicks_in_order():
    world = ScriptedEnvironment()
    await world.reset(_spec("click-two"), 1)
    first, second = world._goals

    one = await world.step(_centre(first.box))
    idle = await world.step(Type(text="x"))
    two = await world.step(_centre(second.box))
    await world.reset(_spec("click-two"), 1)
    wrong = await world.step(_centre(second.box))

    assert [(r.terminated, r.reward) for r in (one, idle, two, wrong)] == [
        (False, 0.0),
        (False, 0.0),
        (True, 1.0),
        (True, 0.0),
    ]


async def test_giving_up_is_right_only_where_nothing_can_be_done():
    world = ScriptedEnvironment()
    rewards = []
    for name, action in [
        ("click-missing", Fail()),
        ("click-missing", Complete()),
        ("click-square", Fail()),
    ]:
        await world.reset(_spec(name), 1)
        rewards.append((await world.step(action)).reward)

    assert rewards == [1.0, 0.0, 0.0]
