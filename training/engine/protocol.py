"""What the engine is asked and what it answers: one JSON object a line.

Requests go to the engine's stdin, replies come from its stdout; its log goes to
stderr. Every request gets exactly one reply.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

PROTOCOL_VERSION: Final = 1


class _Message(BaseModel):
    # A metric may be infinite or no number; as null it could not be read again.
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")


class TrainBatch(_Message):
    """Learn from one batch of rollouts; asked again, it answers the same again."""

    kind: Literal["train_batch"] = "train_batch"
    step: int
    """The optimizer step that this is, from 1."""
    batch: str
    """Path of a batch file."""


class TrainRows(_Message):
    """Learn from demonstrations until a step is reached or the time is up."""

    kind: Literal["train_rows"] = "train_rows"
    until_step: int
    seconds: float
    """At least one optimizer step is done, whatever the time."""


EngineRequest = Annotated[TrainBatch | TrainRows, Field(discriminator="kind")]


class CheckpointInfo(_Message):
    """A checkpoint that is complete on disk."""

    version: int
    step: int
    path: str
    sha256: str
    """Of ``model.safetensors``."""
    size_bytes: int
    """Of all its files."""


class StepResult(_Message):
    """One optimizer step that is done."""

    step: int
    metrics: dict[str, float]
    checkpoint: CheckpointInfo | None = None


class Ready(_Message):
    """The engine is up; the first thing that it says."""

    kind: Literal["ready"] = "ready"
    protocol_version: int
    step: int
    """Optimizer steps done, as found on disk."""
    version: int
    resumed_from: str | None
    """The checkpoint that it went on from; None when it began anew."""
    skipped: list[str]
    """Newer checkpoints that were damaged, each with the reason."""


class Stepped(_Message):
    """The reply to both requests."""

    kind: Literal["stepped"] = "stepped"
    results: list[StepResult]


class Failed(_Message):
    """The request could not be done; the engine is still usable."""

    kind: Literal["failed"] = "failed"
    code: str
    detail: str


EngineReply = Annotated[Ready | Stepped | Failed, Field(discriminator="kind")]

REQUESTS: TypeAdapter[TrainBatch | TrainRows] = TypeAdapter(EngineRequest)
REPLIES: TypeAdapter[Ready | Stepped | Failed] = TypeAdapter(EngineReply)


class EngineSettings(_Message):
    """Where an engine finds and leaves its things; written beside the run's config."""

    run: str
    """Run id."""
    policy: str
    """Folder of the policy that the run started from."""
    media_root: str
    checkpoints: str
    """Folder of the run's checkpoints; absolute."""
    rows: str | None = None
    """``sft``: the ``rows.jsonl`` to learn from; absolute."""
    num_threads: int = 1
