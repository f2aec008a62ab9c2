"""The contract of ``GUIEnvironment`` as code; run over every backend."""

from collections.abc import AsyncIterator, Sequence

from environments.actions import Click, Complete, Move
from environments.base import GUIEnvironment
from environments.definitions import TaskDefinition
from environments.errors import EnvironmentFault, UnknownTask
from environments.types import Observation, StepResult, TaskSpec


async def violations(
    environment: GUIEnvironment, tasks: Sequence[TaskDefinition], *, seed: int = 1
) -> list[str]:
    """Return what an environment does against the contract, in words; ideally nothing.

    Args:
        environment: A fresh one; it is closed at the end.
        tasks: What to try in it.
        seed: The first of the seeds that are played.
    """
    found = []
    for task in tasks:
        path = f"{task.backend}/{task.name}"
        complaints = _task_violations(environment, task, seed)
        found += [f"{path}: {complaint}" async for complaint in complaints]
    found += [
        complaint async for complaint in _lifecycle_violations(environment, tasks)
    ]
    return found


async def _task_violations(
    environment: GUIEnvironment, task: TaskDefinition, seed: int
) -> AsyncIterator[str]:
    spec = task.spec()
    first = await environment.reset(spec, seed)
    for complaint in _observation_violations(first):
        yield complaint
    result = await environment.step(Move(x=0.5, y=0.6))
    for complaint in _result_violations(first, result):
        yield complaint
    if not result.terminated:
        result = await environment.step(Click(x=0.5, y=0.6))
        for complaint in _result_violations(first, result):
            yield complaint
    other = await environment.reset(spec, seed + 1)
    again = await environment.reset(spec, seed)
    if again.instruction != first.instruction:
        yield "the same seed gives another instruction"
    # A screen that changes by itself may have done so before it was looked at.
    if not task.is_timed and again.screen.tobytes() != first.screen.tobytes():
        yield "the same seed gives other pixels"
    if other.screen.size != first.screen.size:
        yield "the screen's size depends on the seed"
    ended = await environment.step(Complete())
    if not ended.terminated:
        yield "complete does not end the episode"
    try:
        await environment.step(Move(x=0.5, y=0.5))
    except EnvironmentFault:
        return
    yield "an episode that is over goes on"


def _observation_violations(observation: Observation) -> list[str]:
    checks: list[tuple[bool, str]] = [
        (observation.screen.mode != "RGB", f"the screen is {observation.screen.mode}"),
        (not observation.instruction.strip(), "the instruction is empty"),
    ]
    area = observation.task_area
    if area is not None:
        width, height = observation.screen.size
        is_inside = (
            0 <= area.left < area.right <= width
            and 0 <= area.top < area.bottom <= height
        )
        checks.append((not is_inside, f"the task area {area} leaves the screen"))
    return [complaint for is_wrong, complaint in checks if is_wrong]


def _result_violations(first: Observation, result: StepResult) -> list[str]:
    now = result.observation
    checks: list[tuple[bool, str]] = [
        (not 0.0 <= result.reward <= 1.0, f"a reward of {result.reward}"),
        (
            result.reward != 0.0 and not result.terminated,
            "a reward before the episode's end",
        ),
        (now.instruction != first.instruction, "the instruction changes"),
        (now.screen.size != first.screen.size, "the screen's size changes"),
    ]
    return _observation_violations(now) + [
        complaint for is_wrong, complaint in checks if is_wrong
    ]


async def _lifecycle_violations(
    environment: GUIEnvironment, tasks: Sequence[TaskDefinition]
) -> AsyncIterator[str]:
    nowhere = TaskSpec(backend=tasks[0].backend, name="no-such-task")
    if not await _raises(environment, nowhere, UnknownTask):
        yield "an unknown task is not refused"
    await environment.close()
    await environment.close()


async def _raises(
    environment: GUIEnvironment, spec: TaskSpec, expected: type[Exception]
) -> bool:
    try:
        await environment.reset(spec, 0)
    except expected:
        return True
    return False
