"""What can go wrong in training, one class per thing a caller can do about it.

HTTP statuses are not decided here; see ``studio.errors``.
"""

from typing import ClassVar


class TrainingError(Exception):
    """Base of every error that this package raises on purpose."""

    code: ClassVar[str] = "training.error"


class InvalidTransition(TrainingError):
    """The present status does not allow the move."""

    code = "training.invalid_transition"


class LeaseLost(TrainingError):
    """Someone else owns the thing by now; the loser writes nothing."""

    code = "training.lease_lost"


class PolicyNotFound(TrainingError):
    """A policy reference leads nowhere; the message says what was looked for."""

    code = "training.policy_not_found"


class TaskNotFound(TrainingError):
    """A task name is not in the catalogue."""

    code = "training.task_not_found"


class DatasetNotReady(TrainingError):
    """A data set does not exist for this user, or cannot be learned from yet."""

    code = "training.dataset_not_ready"


class FilesMissing(TrainingError):
    """A row has no files (yet), or they are gone."""

    code = "training.files_missing"


class UploadTooLarge(TrainingError):
    """An upload is larger than the studio takes; the message names the limit."""

    code = "training.upload_too_large"


class EvaluationInvalid(TrainingError):
    """An evaluation was asked for that measures nothing, or not what it says."""

    code = "training.evaluation_invalid"


class EngineGaveUp(TrainingError):
    """The training process failed again and again at the same step."""

    code = "training.engine.gave_up"


class QuickstartFailed(TrainingError):
    """A stage of the quickstart did not end as it should."""

    code = "training.quickstart_failed"
