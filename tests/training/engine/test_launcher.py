"""The engine as a real process."""

import os
import signal

import pytest

from training.config import OptimizerConfig, SftConfig
from training.engine.launcher import EngineDied, EngineProcess, EngineRefused
from training.engine.protocol import EngineSettings, TrainBatch, TrainRows

TIMEOUT_S = 120


@pytest.fixture
def start(tmp_path, policy_folder, rows_file):
    engines = []

    def start_engine(rows=rows_file):
        config = SftConfig(
            kind="sft",
            dataset="demonstrations",
            max_optimizer_steps=6,
            batch_rows=2,
            checkpoint_every=2,
            optimizer=OptimizerConfig(learning_rate=1e-3),
        )
        settings = EngineSettings(
            run="run",
            policy=str(policy_folder),
            media_root=str(tmp_path),
            checkpoints=str(tmp_path / "checkpoints"),
            rows=str(rows),
        )
        engine = EngineProcess.start(
            config=config,
            settings=settings,
            log=tmp_path / "logs" / "engine.log",
            timeout_s=TIMEOUT_S,
        )
        engines.append(engine)
        return engine

    yield start_engine
    for engine in engines:
        engine.close()


def steps(engine, until):
    reply = engine.request(TrainRows(until_step=until, seconds=60), timeout_s=TIMEOUT_S)
    return [(r.step, r.metrics["sft/loss"], r.checkpoint) for r in reply.results]


def test_an_engine_that_is_killed_goes_on_from_its_last_checkpoint(start):
    engine = start()
    straight = steps(engine, 5)
    assert [step for step, _, _ in straight] == [1, 2, 3, 4, 5]
    assert [bool(c) for _, _, c in straight] == [False, True, False, True, False]

    os.kill(engine.pid, signal.SIGKILL)
    with pytest.raises(EngineDied, match="the training engine failed"):
        steps(engine, 6)
    resumed = start()

    assert (resumed.ready.step, resumed.ready.version) == (4, 2)
    again = steps(resumed, 6)
    assert [step for step, _, _ in again] == [5, 6]
    # The same rows and the same state give the same loss as before the kill.
    assert again[0][1] == pytest.approx(straight[4][1], abs=1e-5)
    assert again[1][2] is not None, "the last step is always kept"


def test_an_engine_refuses_what_its_kind_of_run_cannot_do_and_lives_on(start):
    engine = start()

    with pytest.raises(EngineRefused, match="no batches of rollouts"):
        engine.request(TrainBatch(step=1, batch="x.json"), timeout_s=TIMEOUT_S)

    assert steps(engine, 1)[0][0] == 1


def test_an_engine_that_cannot_start_says_why(start, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")

    with pytest.raises(EngineDied, match="has no rows to learn from"):
        start(rows=empty)


def test_an_engine_ends_when_its_parent_closes_the_pipe(start):
    engine = start()

    engine._process.stdin.close()

    assert engine._process.wait(timeout=30) == 0
