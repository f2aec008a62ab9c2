import random

import pytest

from environments import registry
from environments.backends.scripted.environment import ScriptedEnvironment
from environments.backends.scripted.tasks import TASKS
from environments.checker import violations
from environments.types import StepResult


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(name, marks=[pytest.mark.browser] if name == "miniwob" else [])
        for name in registry.BACKENDS
    ],
)
@pytest.mark.asyncio
async def test_every_registered_backend_keeps_the_contract(backend: str):
    host = registry.create_host(backend)
    await host.start()
    try:
        environment = registry.create(backend, host=host)
        assert await violations(environment, registry.task_specs(backend)) == []
    finally:
        await host.close()


class Restless(ScriptedEnvironment):
    """Its pixels do not follow from the seed alone."""

    async def reset(self, task, seed):
        observation = await super().reset(task, seed)
        observation.screen.putpixel((0, 0), (random.randrange(255), 0, 0))
        return observation


class Generous(ScriptedEnvironment):
    """Rewards before the end, and beyond one."""

    async def step(self, action):
        result = await super().step(action)
        return StepResult(
            observation=result.observation, reward=2.0, terminated=result.terminated
        )


class Endless(ScriptedEnvironment):
    """Goes on after its end."""

    async def step(self, action):
        self._is_over = False
        return await super().step(action)


@pytest.mark.parametrize(
    ("world", "complaint"),
    [
        (Restless, "the same seed gives other pixels"),
        (Generous, "a reward of 2.0"),
        (Generous, "a reward before the episode's end"),
        (Endless, "an episode that is over goes on"),
    ],
)
@pytest.mark.asyncio
async def test_a_world_that_breaks_the_contract_is_found_out(world, complaint: str):
    random.seed(1)

    found = await violations(world(), TASKS[:1])

    assert f"scripted/click-square: {complaint}" in found
