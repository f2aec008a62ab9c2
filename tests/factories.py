"""Factories: the shortest way to a valid object of each kind."""

import factory
from django.contrib.auth.models import User
from factory.django import DjangoModelFactory

from environments.models import Task, TaskSuite
from training.models import (
    Batch,
    Checkpoint,
    Dataset,
    Evaluation,
    Group,
    MetricRow,
    Run,
    Trajectory,
)
from training.states import (
    CheckpointStatus,
    DatasetStatus,
    RunStatus,
    TrajectoryStatus,
)


class UserFactory(DjangoModelFactory[User]):
    """Somebody who may sign in with the password ``secret``."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"user{n}")
    password = factory.django.Password("secret")


class TaskSuiteFactory(DjangoModelFactory[TaskSuite]):
    class Meta:
        model = TaskSuite
        django_get_or_create = ("slug",)

    slug = "miniwob"
    name = "MiniWoB++"


class TaskFactory(DjangoModelFactory[Task]):
    class Meta:
        model = Task
        django_get_or_create = ("backend", "name")

    suite = factory.SubFactory(TaskSuiteFactory)
    backend = "miniwob"
    name = "click-test"
    title = "Click the button."


class RunFactory(DjangoModelFactory[Run]):
    """A draft of an ``rl`` run; ``RunFactory(running=True)`` is one that is under way."""

    class Meta:
        model = Run

    class Params:
        running = factory.Trait(status=RunStatus.RUNNING)

    owner = factory.SubFactory(UserFactory)
    name = factory.Sequence(lambda n: f"run {n}")
    kind = "rl"
    config = factory.LazyFunction(
        lambda: {"kind": "rl", "tasks": ["miniwob/click-test"]}
    )


class GroupFactory(DjangoModelFactory[Group]):
    class Meta:
        model = Group

    run = factory.SubFactory(RunFactory)
    task = factory.SubFactory(TaskFactory)
    seed = factory.Sequence(lambda n: 1_000_000 + n)
    num_rollouts = 8
    step_limit = 10
    dispatched_version = 0


class TrajectoryFactory(DjangoModelFactory[Trajectory]):
    """One that waits; ``solved=True`` or ``unsolved=True`` is one that is over."""

    class Meta:
        model = Trajectory

    class Params:
        solved = factory.Trait(
            status=TrajectoryStatus.FINISHED,
            end_reason="solved",
            reward=1.0,
            num_steps=2,
            min_version=0,
            max_version=0,
        )
        unsolved = factory.Trait(
            status=TrajectoryStatus.FINISHED,
            end_reason="unsolved",
            reward=0.0,
            num_steps=2,
            min_version=0,
            max_version=0,
        )

    run = factory.SubFactory(RunFactory)
    owner = factory.LazyAttribute(
        lambda new: new.run.owner if new.run else UserFactory.create()
    )
    task = factory.SubFactory(TaskFactory)
    seed = factory.Sequence(lambda n: 1_000_000 + n)
    step_limit = 10


class BatchFactory(DjangoModelFactory[Batch]):
    class Meta:
        model = Batch

    run = factory.SubFactory(RunFactory)
    step = 1


class CheckpointFactory(DjangoModelFactory[Checkpoint]):
    class Meta:
        model = Checkpoint

    run = factory.SubFactory(RunFactory)
    version = 1
    step = 1
    status = CheckpointStatus.READY
    path = factory.LazyAttribute(
        lambda new: f"checkpoints/{new.run.pk}/{new.version:06d}"
    )
    sha256 = "0" * 64
    size_bytes = 1


class MetricRowFactory(DjangoModelFactory[MetricRow]):
    class Meta:
        model = MetricRow

    run = factory.SubFactory(RunFactory)
    seq = factory.Sequence(lambda n: n + 1)
    attempt = 1
    step = factory.SelfAttribute("seq")
    source = "trainer"
    values = factory.LazyFunction(lambda: {"actor/pg_loss": 0.5})


class EvaluationFactory(DjangoModelFactory[Evaluation]):
    class Meta:
        model = Evaluation

    owner = factory.SubFactory(UserFactory)
    policy = "oche-tiny"
    tasks = factory.LazyFunction(lambda: ["miniwob/click-test"])
    num_episodes = 1
    first_seed = 900_000_000


class DatasetFactory(DjangoModelFactory[Dataset]):
    class Meta:
        model = Dataset

    owner = factory.SubFactory(UserFactory)
    name = factory.Sequence(lambda n: f"data set {n}")
    source_format = "hf_messages"
    status = DatasetStatus.READY
