"""Trajectories on disk: ``trajectory.json``, ``tokens.safetensors`` and pictures.

Pictures are kept once for all trajectories (``studio.common.frames``). A folder
appears whole or not at all. Knows no Django and no torch.
"""

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL.Image import Image
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from environments.actions import action_to_dict
from environments.types import Box
from studio.common.frames import frame_save
from training.errors import TrainingError
from training.rollouts.types import Step, Trajectory

FORMAT_VERSION: Final = 1
RECORD_FILE: Final = "trajectory.json"
TOKENS_FILE: Final = "tokens.safetensors"

StoredTrajectory = dict[str, Any]
"""``trajectory.json`` as it stands; its keys are listed in ``write_trajectory``."""


class TrajectoryUnreadable(TrainingError):
    """A trajectory's files are missing, damaged or of another format."""

    code = "training.trajectory_unreadable"


def write_trajectory(
    folder: Path, trajectory: Trajectory, media_root: Path, *, policy: str = ""
) -> None:
    """Write a trajectory, and those of its pictures that are not kept yet.

    ``trajectory.json`` holds format_version, id (the folder's name), task, seed,
    instruction, end_reason, reward, policy, reset_s, final_screen and steps: index,
    screen, model_images (each sha256, width, height), task_area, messages, text,
    action, parse_error, executed_px, timings_s, num_prompt_tokens,
    num_response_tokens, token_texts and versions (lowest, highest; null without
    tokens).

    Args:
        folder: Where to; what lies there already is replaced.
        trajectory: What happened.
        media_root: Below it, ``frames/`` holds the pictures.
        policy: Who decided, for people.
    """
    keeper = _PictureKeeper(media_root)
    record = _record_of(trajectory, keeper) | {"id": folder.name, "policy": policy}
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}")
    aside.mkdir()
    try:
        save_file(_tokens_of(trajectory), aside / TOKENS_FILE)
        (aside / RECORD_FILE).write_text(
            json.dumps(record, ensure_ascii=False), encoding="utf-8"
        )
        _put_in_place(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def read_trajectory(folder: Path) -> StoredTrajectory:
    """Return what ``trajectory.json`` holds; no picture and no token is read.

    Raises:
        TrajectoryUnreadable: If it is missing, damaged or of another format.
    """
    path = folder / RECORD_FILE
    try:
        record: StoredTrajectory = json.loads(path.read_bytes())
        version = record["format_version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrajectoryUnreadable(f"cannot read {path}: {error!r}") from error
    if version != FORMAT_VERSION:
        raise TrajectoryUnreadable(
            f"{path} has format version {version!r}, expected {FORMAT_VERSION}"
        )
    return record


def read_tokens(folder: Path) -> dict[str, np.ndarray]:
    """Return the token arrays of all steps that have any.

    ``prompt_<i>``, ``response_<i>`` and ``versions_<i>`` are int32, ``logprobs_<i>``
    and ``entropies_<i>`` float32; i is the index of the step.

    Raises:
        TrajectoryUnreadable: If the file is missing or damaged.
    """
    path = folder / TOKENS_FILE
    try:
        tokens: dict[str, np.ndarray] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TrajectoryUnreadable(f"cannot read {path}: {error}") from error
    return tokens


class _PictureKeeper:
    """Keeps pictures, and hashes no object twice."""

    def __init__(self, media_root: Path) -> None:
        self._media_root = media_root
        self._kept: dict[int, tuple[Image, dict[str, Any]]] = {}

    def keep(self, picture: Image) -> dict[str, Any]:
        """Return how the record names a picture."""
        if id(picture) not in self._kept:
            sha256 = frame_save(self._media_root, picture)
            named = {
                "sha256": sha256,
                "width": picture.width,
                "height": picture.height,
            }
            # The picture stays referenced, or its id could be given to another.
            self._kept[id(picture)] = (picture, named)
        return self._kept[id(picture)][1]


def _record_of(trajectory: Trajectory, keeper: _PictureKeeper) -> StoredTrajectory:
    return {
        "format_version": FORMAT_VERSION,
        "task": f"{trajectory.task.backend}/{trajectory.task.name}",
        "seed": trajectory.seed,
        "instruction": trajectory.final_observation.instruction,
        "end_reason": str(trajectory.end_reason),
        "reward": trajectory.reward,
        "reset_s": trajectory.reset_s,
        "steps": [
            {"index": index, **_step_record(step, keeper)}
            for index, step in enumerate(trajectory.steps)
        ],
        "final_screen": keeper.keep(trajectory.final_observation.screen),
    }


def _step_record(step: Step, keeper: _PictureKeeper) -> dict[str, Any]:
    decision, answer = step.decision, step.decision.answer
    return {
        "screen": keeper.keep(step.observation.screen),
        "model_images": [keeper.keep(image) for image in decision.prompt.images],
        "task_area": _sides(step.observation.task_area),
        "messages": list(decision.prompt.messages),
        "text": decision.text,
        "action": action_to_dict(decision.action) if decision.action else None,
        "parse_error": decision.parse_error,
        "executed_px": dict(step.executed_px) if step.executed_px else None,
        "timings_s": dict(step.timings_s),
        "num_prompt_tokens": len(answer.prompt_token_ids) if answer else 0,
        "num_response_tokens": len(answer.response_token_ids) if answer else 0,
        "token_texts": list(answer.token_texts) if answer else [],
        "versions": [int(answer.versions.min()), int(answer.versions.max())]
        if answer and len(answer.versions)
        else None,
    }


def _sides(box: Box | None) -> list[int] | None:
    return [box.left, box.top, box.right, box.bottom] if box else None


def _tokens_of(trajectory: Trajectory) -> dict[str, np.ndarray]:
    return dict(_token_arrays(trajectory))


def _token_arrays(trajectory: Trajectory) -> Iterator[tuple[str, np.ndarray]]:
    for index, step in enumerate(trajectory.steps):
        answer = step.decision.answer
        if answer is None:
            continue
        for name, values, dtype in (
            ("prompt", answer.prompt_token_ids, np.int32),
            ("response", answer.response_token_ids, np.int32),
            ("logprobs", answer.logprobs, np.float32),
            ("entropies", answer.entropies, np.float32),
            ("versions", answer.versions, np.int32),
        ):
            yield f"{name}_{index}", np.ascontiguousarray(values, dtype=dtype)


def _put_in_place(aside: Path, folder: Path) -> None:
    """Rename a folder to its final name; what has the name already makes way."""
    try:
        aside.rename(folder)
    except OSError:
        old = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.old")
        os.rename(folder, old)  # noqa: PTH104 - fails when there is none, as it should
        aside.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
