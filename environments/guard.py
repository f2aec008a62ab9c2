"""Deadlines from outside: a world that hangs must not hang whoever drives it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from environments.actions import Action, Wait
from environments.base import GUIEnvironment
from environments.errors import (
    EnvironmentFault,
    EnvironmentsError,
    StepFault,
    TimeoutFault,
)
from environments.types import Observation, StepResult, TaskSpec
from studio.common.closing import AsyncClosing


@dataclass(frozen=True, kw_only=True, slots=True)
class Deadlines:
    """Seconds that each thing may take before the slot counts as broken."""

    start_s: float = 30.0
    """Starting a host, such as a browser."""
    reset_s: float = 15.0
    step_s: float = 10.0
    """One action and the picture after it; a wait's own seconds are added."""
    close_s: float = 3.0
    """After it the host is killed."""


@runtime_checkable
class Inspectable(Protocol):
    """An environment that experts can look into."""

    async def evaluate(self, js: str) -> Any:
        """Return the value of a script."""
        ...


class GuardedEnvironment(AsyncClosing):
    """An environment with deadlines, which remembers whether it broke.

    Once anything went wrong but the agent's own mistakes, ``is_broken`` stays set and
    the environment must be closed and built anew.
    """

    def __init__(self, environment: GUIEnvironment, deadlines: Deadlines) -> None:
        self._environment = environment
        self._deadlines = deadlines
        self.is_broken = False

    async def reset(self, task: TaskSpec, seed: int) -> Observation:
        """Start an episode, in time."""
        async with self._watched("reset", self._deadlines.reset_s):
            return await self._environment.reset(task, seed)

    async def step(self, action: Action) -> StepResult:
        """Carry out one action, in time."""
        extra_s = action.seconds if isinstance(action, Wait) else 0.0
        async with self._watched(action.kind, self._deadlines.step_s + extra_s):
            return await self._environment.step(action)

    async def evaluate(self, js: str) -> Any:
        """Return a script's value, for experts.

        Raises:
            StepFault: If this kind of world cannot be looked into.
        """
        if not isinstance(self._environment, Inspectable):
            raise StepFault("this environment runs no scripts")
        async with self._watched("a script", self._deadlines.step_s):
            return await self._environment.evaluate(js)

    async def close(self) -> None:
        """Close the environment.

        Raises:
            TimeoutFault: If it does not let itself be closed.
        """
        async with self._watched("close", self._deadlines.close_s):
            await self._environment.close()

    @asynccontextmanager
    async def _watched(self, what: str, limit_s: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(limit_s):
                yield
        except TimeoutError as error:
            self.is_broken = True
            raise TimeoutFault(f"{what} took more than {limit_s:g} s") from error
        except EnvironmentsError as error:
            self.is_broken |= isinstance(error, EnvironmentFault)
            raise
        except BaseException:
            # A bug, or a cancellation half way: nobody knows what the world looks like.
            self.is_broken = True
            raise
