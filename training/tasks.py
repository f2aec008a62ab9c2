"""What workers can be asked by message: each task calls one service.

A message may come twice or never; the services claim rows, so that neither matters.
"""

from typing import Any, Final
from uuid import UUID

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from environments.services.workers import workers_note_lost
from training.processes import ProcessKind
from training.services import messages
from training.services.advancing import run_advance, runs_to_advance
from training.services.announcing import announcer_close, announcer_start
from training.services.datasets import dataset_import, datasets_import_left
from training.services.engines import RESIDENT
from training.services.evaluations import evaluation_advance, evaluations_to_advance
from training.services.intake import CeleryIntake
from training.services.presence import presence_close, presence_start
from training.services.reaping import rollouts_reap
from training.services.rolling import trajectory_run
from training.services.slots import rollout_worker, rollout_worker_close
from training.services.syncing import weights_sync
from training.services.train_steps import batch_train, engine_prepare

ROLLOUTS: Final = "rollouts"
"""The queue of the environment workers."""
PRESENT: Final[dict[str, ProcessKind]] = {"manager": "manager", "training": "trainer"}
"""The other queues, and what their workers are called."""


@shared_task(name="training.advance_all")
def advance_all() -> None:
    """Look at everything that is under way; beat calls it each second."""
    rollouts_reap()
    workers_note_lost()
    weights = False
    for run_id in runs_to_advance():
        weights = True
        messages.send_advance(run_id)
    for evaluation_id in evaluations_to_advance():
        weights = True
        messages.send_advance_evaluation(evaluation_id)
    if weights:
        messages.send_sync()


@shared_task(name="training.advance_run")
def advance_run(run_id: str) -> None:
    """Do what can be done for a run now."""
    run_advance(run_id=UUID(run_id))


@shared_task(name="training.advance_evaluation")
def advance_evaluation(evaluation_id: str) -> None:
    """Do what can be done for an evaluation now."""
    evaluation_advance(evaluation_id=UUID(evaluation_id))


@shared_task(name="training.sync_weights")
def sync_weights() -> None:
    """Bring the inference workers up to date; holds up nobody but itself."""
    weights_sync()


@shared_task(name="rollouts.run_trajectory")
def run_trajectory(trajectory_id: str) -> None:
    """Play one trajectory."""
    trajectory_run(trajectory_id=UUID(trajectory_id))


@shared_task(name="training.train_step")
def train_step(batch_id: str) -> None:
    """Do one optimizer step, or a slice of short ones."""
    batch_train(batch_id=UUID(batch_id))


@shared_task(name="training.prepare_engine")
def prepare_engine(run_id: str) -> None:
    """Load a run's policy into an engine."""
    engine_prepare(run_id=UUID(run_id))


@shared_task(name="training.release_engine")
def release_engine(run_id: str) -> None:
    """End the engine of a run that is over."""
    RESIDENT.end(UUID(run_id))


@shared_task(name="training.import_dataset")
def import_dataset(dataset_id: str) -> None:
    """Read an upload."""
    dataset_import(dataset_id=UUID(dataset_id))


@shared_task(name="training.import_left")
def import_left() -> None:
    """Ask again for the uploads that nobody reads."""
    datasets_import_left()


@worker_ready.connect
def say_hello(sender: Any, **kwargs: object) -> None:
    """Say who is there: the slots of a worker that takes rollouts, or a process."""
    queues = sender.app.amqp.queues.consume_from
    if ROLLOUTS in queues:
        announcer_start(
            name=sender.hostname,
            pool=rollout_worker().pool,
            intake=CeleryIntake(sender, ROLLOUTS),
        )
    for queue, kind in PRESENT.items():
        if queue in queues:
            presence_start(kind=kind, name=sender.hostname)


@worker_shutting_down.connect
def end_slots(**kwargs: object) -> None:
    """Free browsers when a worker is told to end; what they play is rolled again."""
    rollout_worker_close()


@worker_shutdown.connect
def say_goodbye(**kwargs: object) -> None:
    """Leave the registry: what is ended on purpose is not lost."""
    announcer_close()
    presence_close()


@worker_shutdown.connect
def end_engines(**kwargs: object) -> None:
    """End the training processes with their worker."""
    RESIDENT.end_all()
