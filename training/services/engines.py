"""The engines that a trainer keeps resident: one per run, a few at a time."""

import logging
from typing import Final
from uuid import UUID

from django.conf import settings

from training.config import RlConfig, SftConfig
from training.engine.launcher import EngineProcess
from training.engine.protocol import EngineSettings
from training.models import Run
from training.services.checkpoints import start_folder
from training.services.files import storage
from training.services.starting import RUN_SLOTS, dataset_of

logger = logging.getLogger(__name__)

START_TIMEOUT_S: Final = 600.0
ROWS_FILE: Final = "rows.jsonl"


class ResidentEngines:
    """Keeps the engines of the last few runs; the others are ended.

    Of one process and one thread: the trainer works on one thing at a time.
    """

    def __init__(self, limit: int = RUN_SLOTS) -> None:
        self._limit = limit
        self._engines: dict[UUID, EngineProcess] = {}

    def engine_for(self, run: Run, config: RlConfig | SftConfig) -> EngineProcess:
        """Return the run's engine, started from its newest whole checkpoint if need be.

        Raises:
            EngineDied: If it does not start.
            DatasetNotReady: If the data set is gone.
        """
        engine = self._engines.pop(run.pk, None)
        if engine is None:
            while len(self._engines) >= self._limit:
                self.end(next(iter(self._engines)))
            engine = start_engine(run, config)
            logger.info(
                "engine started",
                extra={
                    "run_id": str(run.pk),
                    "pid": engine.pid,
                    "step": engine.ready.step,
                },
            )
        # Last in the dictionary is the one that was used last.
        self._engines[run.pk] = engine
        return engine

    def end(self, run_id: UUID) -> None:
        """End a run's engine, if there is one."""
        engine = self._engines.pop(run_id, None)
        if engine is not None:
            engine.close()

    def end_all(self) -> None:
        """End them all."""
        for run_id in list(self._engines):
            self.end(run_id)


def start_engine(run: Run, config: RlConfig | SftConfig) -> EngineProcess:
    """Start an engine on what the run has on disk.

    Raises:
        EngineDied: If it does not start.
        DatasetNotReady: If the data set is gone.
    """
    rows = None
    if isinstance(config, SftConfig):
        rows = str(storage().absolute(dataset_of(config).path) / ROWS_FILE)
    return EngineProcess.start(
        config=config,
        settings=EngineSettings(
            run=str(run.pk),
            policy=str(start_folder(run.pk)),
            media_root=str(storage().root),
            checkpoints=str(storage().checkpoints(run.pk)),
            rows=rows,
            num_threads=settings.NUM_TRAINER_THREADS,
        ),
        log=storage().attempt_logs(run.pk, run.attempt) / "engine.log",
        timeout_s=START_TIMEOUT_S,
    )


RESIDENT: Final = ResidentEngines()
"""This process's engines."""
