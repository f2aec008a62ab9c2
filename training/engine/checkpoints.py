"""Checkpoints on disk: written aside, hashed, then renamed, so that none is half there.

A folder holds a policy in Hugging Face layout, ``manifest.json`` with the hash of
every file, and below ``trainer/`` what a resumed run needs: the optimizer's state,
the counters and the result of the step that made it.
"""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from training.engine.protocol import CheckpointInfo

FORMAT_VERSION = 1
WEIGHTS = "model.safetensors"
MANIFEST = "manifest.json"
KEEP_TRAINER_STATES = 2
"""Older checkpoints keep their weights only: optimizer state is twice their size."""


class CheckpointBroken(Exception):
    """A checkpoint lacks a file, or one is not what was written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainerState:
    """What a run needs to go on as if nothing had happened."""

    step: int
    version: int
    optimizer: dict[str, torch.Tensor]
    metrics: dict[str, float]


def checkpoint_write(
    *, root: Path, model: Any, policy: Path, state: TrainerState
) -> CheckpointInfo:
    """Write version ``state.version`` below ``root``; all of it or nothing.

    Args:
        root: Folder of the run's checkpoints; made when missing.
        model: Has ``save_pretrained``.
        policy: Folder that the other files (tokenizer, …) are taken from.
        state: Counters, optimizer and the step's metrics.
    """
    final = root / f"{state.version:06d}"
    aside = root / f".writing-{state.version:06d}-{os.getpid()}"
    shutil.rmtree(aside, ignore_errors=True)
    (aside / "trainer").mkdir(parents=True)
    # One file, so that one hash names the weights.
    model.save_pretrained(aside, max_shard_size="1TB")
    _copy_missing(policy, aside)
    save_file(
        {name: tensor.contiguous() for name, tensor in state.optimizer.items()},
        aside / "trainer" / "optimizer.safetensors",
    )
    counters = {
        "format_version": FORMAT_VERSION,
        "step": state.step,
        "version": state.version,
        "metrics": state.metrics,
    }
    (aside / "trainer" / "state.json").write_text(json.dumps(counters))
    hashes = {
        str(file.relative_to(aside)): _hash_and_sync(file)
        for file in sorted(aside.rglob("*"))
        if file.is_file()
    }
    manifest = {"format_version": FORMAT_VERSION, "files": hashes}
    (aside / MANIFEST).write_text(json.dumps(manifest, indent=1))
    _hash_and_sync(aside / MANIFEST)
    shutil.rmtree(final, ignore_errors=True)
    aside.rename(final)
    _sync_folder(root)
    _prune(root)
    return _info(final, counters, hashes)


def checkpoint_read(folder: Path) -> tuple[CheckpointInfo, TrainerState]:
    """Read a checkpoint after checking every hash.

    Raises:
        CheckpointBroken: Saying which file is missing or damaged.
    """
    try:
        hashes = json.loads((folder / MANIFEST).read_text())["files"]
        for name, expected in hashes.items():
            # A pruned trainer state makes a checkpoint unfit to resume, not unfit to serve.
            if _hash(folder / name) != expected:
                raise CheckpointBroken(f"{folder.name}: {name} is damaged")
        counters = json.loads((folder / "trainer" / "state.json").read_text())
        optimizer = load_file(folder / "trainer" / "optimizer.safetensors")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointBroken(f"{folder.name}: {error}") from error
    state = TrainerState(
        step=counters["step"],
        version=counters["version"],
        optimizer=optimizer,
        metrics=counters["metrics"],
    )
    return _info(folder, counters, hashes), state


def newest_valid(
    root: Path,
) -> tuple[tuple[CheckpointInfo, TrainerState] | None, list[str]]:
    """Return the newest checkpoint that is whole, and what is wrong with newer ones.

    Leftovers of writers that died are removed on the way.
    """
    for leftover in root.glob(".writing-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    problems: list[str] = []
    for folder in sorted(root.glob("[0-9]" * 6), reverse=True):
        try:
            return checkpoint_read(folder), problems
        except CheckpointBroken as error:
            problems.append(str(error))
    return None, problems


def _info(
    folder: Path, counters: dict[str, Any], hashes: dict[str, str]
) -> CheckpointInfo:
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return CheckpointInfo(
        version=counters["version"],
        step=counters["step"],
        path=str(folder),
        sha256=hashes[WEIGHTS],
        size_bytes=size,
    )


def _copy_missing(source: Path, target: Path) -> None:
    for file in source.iterdir():
        is_ours = file.is_file() and file.name not in (MANIFEST, WEIGHTS)
        if is_ours and not (target / file.name).exists():
            shutil.copyfile(file, target / file.name)


def _prune(root: Path) -> None:
    folders = sorted(root.glob("[0-9]" * 6), reverse=True)
    for folder in folders[KEEP_TRAINER_STATES:]:
        shutil.rmtree(folder / "trainer", ignore_errors=True)


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _hash_and_sync(file: Path) -> str:
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
