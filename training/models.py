"""Rows that index and count what training makes; the bulk lies in files."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from environments.models import Task
from training.states import (
    BatchStatus,
    CheckpointStatus,
    DatasetStatus,
    DropReason,
    EvaluationStatus,
    GroupStatus,
    RunStatus,
    TrajectoryStatus,
)


class Run(models.Model):
    """One attempt, or several, to train one policy by one configuration."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="runs"
    )
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=8)
    """``sft``, ``rft`` or ``rl``; a copy of ``config["kind"]`` to filter by."""
    config = models.JSONField()
    """A dumped ``training.config.RunConfig``; validated before it is written."""
    status = models.CharField(
        max_length=16, choices=RunStatus.choices, default=RunStatus.DRAFT
    )
    """Written only by ``services.transitions.run_transition``."""
    reason = models.TextField(blank=True)
    """Why it is where it is, in words a user can act on."""
    attempt = models.PositiveIntegerField(default=1)
    optimizer_step = models.PositiveIntegerField(default=0)
    """Optimizer steps whose results are in the database."""
    policy_version = models.PositiveIntegerField(default=0)
    """The newest published version; 0 is the policy that the run started from."""
    next_seed = models.PositiveIntegerField(default=0)
    """Counts the groups dispatched; decides the next group's task and seed."""
    last_seq = models.PositiveIntegerField(default=0)
    """Number of the newest ``MetricRow``."""
    owner_token = models.CharField(max_length=64, blank=True)
    """Which manager advances the run now; see ``lease_expires_at``."""
    fence = models.PositiveBigIntegerField(default=0)
    """Grows with every change of owner; the loser of a race writes nothing."""
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["owner", "status", "-created_at"])]

    def __str__(self) -> str:
        return self.name


class RunTransition(models.Model):
    """One change of a run's status, kept for the run's history."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="transitions")
    old_status = models.CharField(max_length=16, choices=RunStatus.choices)
    new_status = models.CharField(max_length=16, choices=RunStatus.choices)
    reason = models.TextField(blank=True)
    who = models.CharField(max_length=150, blank=True)
    """User name, or the process that moved it."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.old_status} -> {self.new_status}"


class Batch(models.Model):
    """The groups that one optimizer step learns from."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    step = models.PositiveIntegerField()
    """The optimizer step, from 1."""
    status = models.CharField(
        max_length=16, choices=BatchStatus.choices, default=BatchStatus.READY
    )
    created_at = models.DateTimeField(default=timezone.now)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["step"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "step"],
                condition=~models.Q(status=BatchStatus.RETURNED),
                name="one_live_batch_per_step",
            )
        ]

    def __str__(self) -> str:
        return f"batch of step {self.step}"


class Group(models.Model):
    """The rollouts of one task and seed that are compared with each other."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="groups")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+")
    seed = models.PositiveBigIntegerField()
    num_rollouts = models.PositiveIntegerField()
    """N, fixed at dispatch."""
    step_limit = models.PositiveIntegerField()
    dispatched_version = models.PositiveIntegerField()
    """The newest published version when the group was dispatched."""
    status = models.CharField(
        max_length=16, choices=GroupStatus.choices, default=GroupStatus.OPEN
    )
    drop_reason = models.CharField(
        max_length=16, choices=DropReason.choices, blank=True
    )
    batch = models.ForeignKey(
        Batch, null=True, blank=True, on_delete=models.SET_NULL, related_name="groups"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        indexes = [models.Index(fields=["run", "status", "created_at"])]

    def __str__(self) -> str:
        return f"{self.task.name} seed {self.seed}"


class Evaluation(models.Model):
    """Success of one policy on held-out seeds, which are used for nothing else."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="evaluations"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="evaluations"
    )
    label = models.CharField(max_length=100, blank=True)
    policy = models.CharField(max_length=200)
    """A policy reference: ``oche-tiny``, a path, or ``<run id>@<version>``."""
    policy_version = models.PositiveIntegerField(default=0)
    tasks = models.JSONField()
    """Names: ``["miniwob/enter-text", …]``."""
    num_episodes = models.PositiveIntegerField()
    first_seed = models.PositiveBigIntegerField()
    temperature = models.FloatField(default=0.0)
    """0 is greedy."""
    status = models.CharField(
        max_length=16, choices=EvaluationStatus.choices, default=EvaluationStatus.QUEUED
    )
    num_finished = models.PositiveIntegerField(default=0)
    success_rate = models.FloatField(null=True, blank=True)
    """Share of finished episodes that were solved; None until it is over."""
    results = models.JSONField(default=dict, blank=True)
    """By task: ``{"miniwob/enter-text": {"episodes": 100, "solved": 97}}``."""
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.label or self.policy


class Dataset(models.Model):
    """Demonstrations: rows of chat messages with images, ready to be learned from."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="datasets"
    )
    name = models.CharField(max_length=100)
    source_format = models.CharField(max_length=40)
    """Name of the importer, such as ``hf_messages``; ``oracle`` for our own."""
    status = models.CharField(
        max_length=16, choices=DatasetStatus.choices, default=DatasetStatus.UPLOADED
    )
    reason = models.TextField(blank=True)
    num_read = models.PositiveIntegerField(default=0)
    num_kept = models.PositiveIntegerField(default=0)
    num_rejected = models.PositiveIntegerField(default=0)
    errors = models.JSONField(default=list, blank=True)
    """The first hundred: ``{"file", "line", "field", "reason"}``."""
    path = models.CharField(max_length=200, blank=True)
    """Folder below the media root: ``rows.jsonl`` beside ``frames/``."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class Trajectory(models.Model):
    """One episode: its place in the order of things, its verdict, its files."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="trajectories"
    )
    run = models.ForeignKey(
        Run,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="trajectories",
    )
    group = models.ForeignKey(
        Group,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="trajectories",
    )
    evaluation = models.ForeignKey(
        Evaluation,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="trajectories",
    )
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+")
    seed = models.PositiveBigIntegerField()
    index = models.PositiveIntegerField(default=0)
    """Which of its group's rollouts; a second try has the same index."""
    step_limit = models.PositiveIntegerField()
    status = models.CharField(
        max_length=16, choices=TrajectoryStatus.choices, default=TrajectoryStatus.QUEUED
    )
    """Written only by ``services.trajectories``."""
    end_reason = models.CharField(max_length=24, blank=True)
    """A ``training.rollouts.types.EndReason`` once finished."""
    fault_code = models.CharField(max_length=24, blank=True)
    """A ``training.rollouts.types.FaultCode`` once faulted."""
    fault_detail = models.TextField(blank=True)
    reward = models.FloatField(null=True, blank=True)
    """0…1; None unless finished."""
    advantage = models.FloatField(null=True, blank=True)
    num_steps = models.PositiveIntegerField(default=0)
    min_version = models.PositiveIntegerField(null=True, blank=True)
    max_version = models.PositiveIntegerField(null=True, blank=True)
    """Oldest and newest policy version that sampled a token of it."""
    slot = models.CharField(max_length=80, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    """A running trajectory whose lease has run out is lost with its worker."""
    dispatched_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    occupied_s = models.FloatField(default=0.0)
    """Seconds that it held its slot, from the reset to the end; 0 until it is over."""
    busy_s = models.FloatField(default=0.0)
    """Of these, the seconds in which the slot did not wait for the model."""
    reset_s = models.FloatField(null=True, blank=True)
    step_ms = models.JSONField(default=list, blank=True)
    """Milliseconds of each action that the world carried out."""
    path = models.CharField(max_length=200, blank=True)
    """Folder below the media root: ``trajectory.json``, ``tokens.safetensors``."""

    class Meta:
        ordering = ["-dispatched_at", "-id"]
        indexes = [
            models.Index(fields=["run", "status", "-dispatched_at"]),
            models.Index(fields=["status", "lease_expires_at"]),
            models.Index(fields=["evaluation", "status"]),
        ]

    def __str__(self) -> str:
        return f"{self.task.name} seed {self.seed}"


class Checkpoint(models.Model):
    """A version of a run's policy on disk, in Hugging Face layout."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    version = models.PositiveIntegerField()
    step = models.PositiveIntegerField()
    """Optimizer steps that led to it."""
    status = models.CharField(max_length=16, choices=CheckpointStatus.choices)
    path = models.CharField(max_length=200)
    """Folder below the media root."""
    sha256 = models.CharField(max_length=64)
    """Of the weights file."""
    size_bytes = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["run", "version"], name="one_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.run.name} v{self.version}"


class MetricRow(models.Model):
    """Measurements of one moment of a run, numbered for those who catch up."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metrics")
    seq = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    step = models.PositiveIntegerField()
    """Optimizer steps done."""
    source = models.CharField(max_length=16)
    """``trainer`` (one per optimizer step), ``rollouts`` (one per optimizer step),
    ``evaluation``."""
    values = models.JSONField()
    """Metric name -> float; names in ``training.metrics``."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["run", "seq"], name="one_row_per_seq"),
            models.UniqueConstraint(
                fields=["run", "attempt", "step", "source"], name="measured_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} at step {self.step}"
