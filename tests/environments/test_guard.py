import asyncio

import pytest

from environments.actions import Click, Move, Wait
from environments.backends.scripted.environment import ScriptedEnvironment
from environments.errors import StepFault, TimeoutFault, UnknownTask
from environments.guard import Deadlines, GuardedEnvironment
from environments.types import TaskSpec

pytestmark = pytest.mark.asyncio

QUICK = Deadlines(start_s=0.2, reset_s=0.2, step_s=0.2, close_s=0.2)


def _guarded() -> GuardedEnvironment:
    return GuardedEnvironment(ScriptedEnvironment(), QUICK)


def _spec(**params: int) -> TaskSpec:
    return TaskSpec(backend="scripted", name="click-square", params=params)


async def test_a_world_that_hangs_is_given_up_after_its_deadline():
    environment = _guarded()
    await environment.reset(_spec(hang_at_step=0), 1)

    with pytest.raises(TimeoutFault, match=r"move took more than 0\.2 s"):
        await environment.step(Move(x=0.5, y=0.5))

    assert environment.is_broken


async def test_a_world_that_breaks_is_remembered_as_broken():
    environment = _guarded()
    await environment.reset(_spec(break_at_step=1), 1)
    await environment.step(Move(x=0.5, y=0.5))
    assert not environment.is_broken

    with pytest.raises(StepFault):
        await environment.step(Move(x=0.5, y=0.5))

    assert environment.is_broken


async def test_an_unknown_task_breaks_nothing():
    environment = _guarded()

    with pytest.raises(UnknownTask):
        await environment.reset(TaskSpec(backend="scripted", name="nothing"), 1)

    assert not environment.is_broken


async def test_a_wait_has_its_own_seconds_on_top_of_the_deadline():
    class Slow(ScriptedEnvironment):
        async def step(self, action):
            await asyncio.sleep(0.3)
            return await super().step(action)

    environment = GuardedEnvironment(Slow(), QUICK)
    await environment.reset(_spec(), 1)

    result = await environment.step(Wait(seconds=0.5))

    assert not result.terminated


async def test_a_step_that_is_cancelled_leaves_a_broken_world():
    environment = _guarded()
    await environment.reset(_spec(hang_at_step=0), 1)
    step = asyncio.create_task(environment.step(Click(x=0.5, y=0.5)))
    await asyncio.sleep(0)

    step.cancel()

    with pytest.raises(asyncio.CancelledError):
        await step
    assert environment.is_broken


async def test_a_world_without_scripts_says_so():
    with pytest.raises(StepFault, match="no scripts"):
        await _guarded().evaluate("1 + 1")
