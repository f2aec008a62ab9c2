"""What can go wrong in an environment, one class per thing a caller can do about it."""

from typing import ClassVar


class EnvironmentsError(Exception):
    """Base of every error that this package raises on purpose."""

    code: ClassVar[str] = "environments.error"


class InvalidAction(EnvironmentsError):
    """An action with a value outside its range; the agent's fault, not the world's."""

    code = "environments.invalid_action"


class UnknownBackend(EnvironmentsError):
    """No backend is registered under the name."""

    code = "environments.unknown_backend"


class UnknownTask(EnvironmentsError):
    """The backend has no task of the name."""

    code = "environments.unknown_task"


class EnvironmentFault(EnvironmentsError):
    """The world broke: says nothing about the agent, so it is never a reward of 0.

    The slot must be closed and built anew before it is used again.
    """

    code = "env_step"


class StartFault(EnvironmentFault):
    """The world could not be started or reset."""

    code = "env_start"


class StepFault(EnvironmentFault):
    """The world broke while it carried out an action or took a picture."""

    code = "env_step"


class TimeoutFault(EnvironmentFault):
    """The world did not answer before a deadline."""

    code = "env_timeout"


class EvaluatorFault(EnvironmentFault):
    """The end of an episode could not be judged."""

    code = "evaluator"


class BoardUnreachable(EnvironmentsError):
    """The slot board does not answer; what the slots do is not known now."""

    code = "environments.board_unreachable"


class WorkerNotFound(EnvironmentsError):
    """No environment worker of the name was heard of lately."""

    code = "environments.worker_not_found"


class WorkerSilent(EnvironmentsError):
    """The worker is lost or has ended: it hears nothing that is asked of it."""

    code = "environments.worker_silent"


class SlotNotFound(EnvironmentsError):
    """No slot of the name works for this user."""

    code = "environments.slot_not_found"
