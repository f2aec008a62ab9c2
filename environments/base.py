"""The contract of a world: reset, step, close."""

from types import TracebackType
from typing import Protocol, Self

from environments.actions import Action
from environments.types import Observation, StepResult, TaskSpec


class GUIEnvironment(Protocol):
    """A screen that can be looked at and acted upon; one episode at a time.

    Deadlines are enforced by the caller, from outside: an implementation may
    hang, and its ``close`` must then still work.
    """

    async def reset(self, task: TaskSpec, seed: int) -> Observation:
        """Start an episode; the same task and seed give the same screen.

        Raises:
            UnknownTask: If this backend has no such task.
            EnvironmentFault: If the world broke.
        """
        ...

    async def step(self, action: Action) -> StepResult:
        """Carry out one action and look.

        An action that ``ends_episode`` is judged and terminates.

        Raises:
            InvalidAction: If this backend cannot carry out such an action.
            EnvironmentFault: If the world broke.
        """
        ...

    async def close(self) -> None:
        """Free everything; may be called twice, and after a fault."""
        ...

    async def __aenter__(self) -> Self:
        """Return itself, to be closed at the end of the block."""
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        ...
