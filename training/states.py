"""Which status may follow which, for everything in training that has one."""

from django.db.models import TextChoices


class RunStatus(TextChoices):
    """Where a run stands."""

    DRAFT = "draft"
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


RUN_MOVES: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.DRAFT: frozenset({RunStatus.QUEUED}),
    RunStatus.QUEUED: frozenset(
        {RunStatus.STARTING, RunStatus.STOPPED, RunStatus.FAILED}
    ),
    RunStatus.STARTING: frozenset(
        {RunStatus.RUNNING, RunStatus.STOPPING, RunStatus.FAILED}
    ),
    # A run may reach its last step, or break, before it hears that it should stop.
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.PAUSED,
            RunStatus.STOPPING,
            RunStatus.SUCCEEDED,
            RunStatus.FAILED,
        }
    ),
    # What is under way in a pause finishes, and that may be the last step.
    RunStatus.PAUSED: frozenset(
        {
            RunStatus.RUNNING,
            RunStatus.STOPPING,
            RunStatus.SUCCEEDED,
            RunStatus.FAILED,
        }
    ),
    RunStatus.STOPPING: frozenset(
        {RunStatus.STOPPED, RunStatus.SUCCEEDED, RunStatus.FAILED}
    ),
    # Resume starts the next attempt; a finished run has nothing left to resume.
    RunStatus.STOPPED: frozenset({RunStatus.QUEUED}),
    RunStatus.FAILED: frozenset({RunStatus.QUEUED}),
    RunStatus.SUCCEEDED: frozenset(),
}

RUN_OVER = frozenset({RunStatus.STOPPED, RunStatus.SUCCEEDED, RunStatus.FAILED})
RUN_ACTIVE = frozenset(
    {RunStatus.STARTING, RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.STOPPING}
)


class TrajectoryStatus(TextChoices):
    """Where a trajectory stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAULTED = "faulted"
    CANCELLED = "cancelled"


TRAJECTORY_MOVES: dict[TrajectoryStatus, frozenset[TrajectoryStatus]] = {
    TrajectoryStatus.QUEUED: frozenset(
        {TrajectoryStatus.RUNNING, TrajectoryStatus.CANCELLED}
    ),
    TrajectoryStatus.RUNNING: frozenset(
        {
            TrajectoryStatus.FINISHED,
            TrajectoryStatus.FAULTED,
            TrajectoryStatus.CANCELLED,
        }
    ),
    TrajectoryStatus.FINISHED: frozenset(),
    TrajectoryStatus.FAULTED: frozenset(),
    TrajectoryStatus.CANCELLED: frozenset(),
}


class GroupStatus(TextChoices):
    """Where a group of siblings stands."""

    OPEN = "open"
    READY = "ready"
    BATCHED = "batched"
    TRAINED = "trained"
    DROPPED = "dropped"


class DropReason(TextChoices):
    """Why a group taught nothing."""

    SOLVED = "solved"
    FAILED = "failed"
    FLAT = "flat"
    STALE = "stale"
    FAULTED = "faulted"
    RUN_OVER = "run_over"


class BatchStatus(TextChoices):
    """Where the data of one optimizer step stands."""

    READY = "ready"
    TRAINING = "training"
    TRAINED = "trained"
    RETURNED = "returned"


class CheckpointStatus(TextChoices):
    """Where a checkpoint stands."""

    WRITING = "writing"
    READY = "ready"
    BROKEN = "broken"


class DatasetStatus(TextChoices):
    """Where an import stands."""

    UPLOADED = "uploaded"
    CHECKING = "checking"
    IMPORTING = "importing"
    READY = "ready"
    REJECTED = "rejected"


DATASET_MOVES: dict[DatasetStatus, frozenset[DatasetStatus]] = {
    DatasetStatus.UPLOADED: frozenset({DatasetStatus.CHECKING}),
    # Checking again: an import that died with its worker begins anew.
    DatasetStatus.CHECKING: frozenset(
        {DatasetStatus.CHECKING, DatasetStatus.IMPORTING, DatasetStatus.REJECTED}
    ),
    DatasetStatus.IMPORTING: frozenset(
        {DatasetStatus.CHECKING, DatasetStatus.READY, DatasetStatus.REJECTED}
    ),
    DatasetStatus.READY: frozenset(),
    DatasetStatus.REJECTED: frozenset(),
}

DATASET_OVER = frozenset(status for status, moves in DATASET_MOVES.items() if not moves)


class EvaluationStatus(TextChoices):
    """Where an evaluation stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
