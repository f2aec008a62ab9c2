"""Makes the base policy that ships: ``python -m training.pretrain`` (``./oche pretrain``).

Scripted experts play easy tasks and fragments of harder ones on the real pages; an
untrained ``oche-tiny`` learns from that by the engine's own supervised steps. The
same seed gives the same lessons and the same order of rows.
"""

import argparse
import asyncio
import json
import logging
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.tiny import save_policy
from training.config import OptimizerConfig, SftConfig
from training.datasets.augmentation import augmented
from training.datasets.curriculum import base_lessons
from training.datasets.demonstrations import Lesson, Rows, demonstrate
from training.datasets.row_file import RowWriter
from training.engine.protocol import EngineSettings, StepResult, TrainRows
from training.engine.trainer import Trainer

logger = logging.getLogger("training.pretrain")

BUNDLED: Final = Path(__file__).parents[1] / "agents" / "bundled" / "oche-tiny"
NUM_SLOTS: Final = 6
REPORT_EVERY: Final = 50
POLICY_FILES: Final = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "preprocessor_config.json",
    "oche.json",
)


def collect(home: Path, *, share: float, seed: int) -> Path:
    """Play the lessons and return the file of rows; an existing file is kept."""
    rows_file = home / "rows.jsonl"
    if rows_file.exists():
        logger.info("demonstrations are there already: %s", rows_file)
        return rows_file
    lessons = base_lessons(share=share, seed=seed)
    began = time.monotonic()
    played = failed = 0
    draft = rows_file.with_suffix(".draft")
    with RowWriter(draft) as writer:

        def keep(_: Lesson, rows: Rows) -> None:
            nonlocal played, failed
            played += 1
            failed += not rows
            writer.write(rows)
            if played % 500 == 0:
                rate = played / (time.monotonic() - began)
                left_s = (len(lessons) - played) / rate
                logger.info(
                    "%d of %d lessons, %d rows, about %.0f s left",
                    played,
                    len(lessons),
                    writer.num_rows,
                    left_s,
                )

        asyncio.run(
            demonstrate(lessons, media_root=home, num_slots=NUM_SLOTS, on_rows=keep)
        )
    draft.rename(rows_file)
    logger.info(
        "%d lessons (%d failed) in %.0f s", played, failed, time.monotonic() - began
    )
    return rows_file


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One decay of the rates over one file of rows."""

    name: str
    num_steps: int
    learning_rate: float
    matrix_learning_rate: float
    copies: int
    """Retexted copies of each row that types something."""


STAGES: Final = (
    Stage(
        name="see",
        num_steps=3200,
        learning_rate=2e-3,
        matrix_learning_rate=4e-3,
        copies=0,
    ),
    Stage(
        name="copy",
        num_steps=1600,
        learning_rate=1e-3,
        matrix_learning_rate=2e-3,
        copies=2,
    ),
)
"""Reading the screen comes first and takes longest; then many texts to copy."""


def stage_config(stage: Stage, *, num_steps: int, seed: int) -> SftConfig:
    """Return the recipe: Muon on matrices, one linear decay over the stage."""
    return SftConfig(
        kind="sft",
        dataset="pretraining",
        seed=seed,
        max_optimizer_steps=num_steps,
        checkpoint_every=500,
        batch_rows=32,
        optimizer=OptimizerConfig(
            learning_rate=stage.learning_rate,
            matrix_learning_rate=stage.matrix_learning_rate,
            weight_decay=0.01,
            grad_clip=1.0,
            warmup_steps=50,
            decay="linear",
            final_rate_fraction=0.03,
            micro_batch_rows=64,
        ),
    )


def train(
    stage: Stage,
    *,
    start: Path,
    home: Path,
    rows_file: Path,
    num_steps: int,
    seed: int,
    num_threads: int,
) -> tuple[Path, list[dict[str, Any]]]:
    """Train one stage, or on from its last checkpoint; returns policy and curve."""
    settings = EngineSettings(
        run=f"pretrain-{stage.name}",
        policy=str(start),
        media_root=str(home),
        checkpoints=str(home / stage.name),
        rows=str(_stage_rows(stage, home=home, rows_file=rows_file, seed=seed)),
        num_threads=num_threads,
    )
    config = stage_config(stage, num_steps=num_steps, seed=seed)
    trainer = Trainer(config, settings)
    began = time.monotonic()
    curve: list[dict[str, Any]] = []
    step, folder = trainer.ready.step, trainer.ready.resumed_from
    while step < num_steps:
        request = TrainRows(until_step=step + REPORT_EVERY, seconds=float("inf"))
        results = trainer.handle(request).results
        step = results[-1].step
        folder = next(
            (r.checkpoint.path for r in reversed(results) if r.checkpoint), folder
        )
        curve.append(_point(stage, results, seconds=time.monotonic() - began))
        logger.info("%s", json.dumps(curve[-1]))
    if folder is None:
        raise RuntimeError("the training ended without a checkpoint")
    return Path(folder), curve


def _stage_rows(stage: Stage, *, home: Path, rows_file: Path, seed: int) -> Path:
    if stage.copies == 0:
        return rows_file
    rows = [json.loads(line) for line in rows_file.open(encoding="utf-8")]
    path = home / f"rows-{stage.name}.jsonl"
    with RowWriter(path) as writer:
        writer.write(augmented(rows, copies=stage.copies, seed=seed))
    return path


def _point(
    stage: Stage, results: list[StepResult], *, seconds: float
) -> dict[str, Any]:
    def mean(name: str) -> float:
        return round(sum(r.metrics[name] for r in results) / len(results), 4)

    return {
        "stage": stage.name,
        "step": results[-1].step,
        "seconds": round(seconds, 1),
        "loss": mean("sft/loss"),
        "token_accuracy": mean("sft/token_accuracy"),
    }


def install(policy: Path, target: Path, *, curve: list[dict[str, Any]]) -> None:
    """Copy what a policy needs, and its learning curve, to where it ships from."""
    target.mkdir(parents=True, exist_ok=True)
    for name in POLICY_FILES:
        shutil.copyfile(policy / name, target / name)
    (target / "pretraining.json").write_text(json.dumps(curve, indent=1) + "\n")


def main() -> None:
    """Collect, train, install."""
    parser = argparse.ArgumentParser(prog="oche pretrain", description=__doc__)
    parser.add_argument("--home", type=Path, default=Path("var/pretrain"))
    parser.add_argument("--out", type=Path, default=BUNDLED)
    parser.add_argument("--share", type=float, default=1.0, help="of the lessons")
    parser.add_argument(
        "--length", type=float, default=1.0, help="of the optimizer steps"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    home = options.home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    rows_file = collect(home, share=options.share, seed=options.seed)
    policy = home / "untrained"
    if not (policy / "model.safetensors").exists():
        save_policy(policy, seed=options.seed)
    curve: list[dict[str, Any]] = []
    for stage in STAGES:
        policy, part = train(
            stage,
            start=policy,
            home=home,
            rows_file=rows_file,
            num_steps=max(1, round(stage.num_steps * options.length)),
            seed=options.seed,
            num_threads=options.threads,
        )
        curve += part
    install(policy, options.out, curve=curve)
    logger.info("installed in %s", options.out)


if __name__ == "__main__":
    main()
