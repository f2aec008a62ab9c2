"""Writes the files of a trajectory as a rollout leaves them: a click, then a text."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from safetensors.numpy import save_file

from studio.common.frames import frame_save
from studio.common.storage import Storage, write_json
from training.models import Trajectory

COLOURS = ("white", "yellow", "green")
ACTIONS: tuple[dict[str, Any], ...] = (
    {"kind": "click", "x": 0.25, "y": 0.5},
    {"kind": "type", "text": "Bob"},
)


def picture(colour: str) -> Image.Image:
    """Return a screen of one colour."""
    return Image.new("RGB", (160, 210), colour)


def frame(media: Path, colour: str) -> dict[str, Any]:
    """Keep a screen; return how a trajectory names it."""
    sha256 = frame_save(media, picture(colour))
    return {"sha256": sha256, "width": 160, "height": 210}


def record(trajectory: Trajectory, media: Path) -> Path:
    """Write both files and note their place; the entropies are 0.1 and 2.0 nats."""
    storage = Storage(media)
    folder = storage.trajectory(trajectory.pk, run_id=trajectory.run_id)
    screens = [frame(media, colour) for colour in COLOURS]
    steps = [_step(index, screens[index]) for index in range(2)]
    write_json(
        folder / "trajectory.json",
        {
            "format_version": 1,
            "id": str(trajectory.pk),
            "task": str(trajectory.task),
            "seed": trajectory.seed,
            "instruction": "Enter “Bob”.",
            "end_reason": "solved",
            "reward": 1.0,
            "reset_s": 0.5,
            "steps": steps,
            "final_screen": screens[2],
        },
    )
    tensors = {}
    for index in range(2):
        tensors[f"response_{index}"] = np.array([7, 8], dtype=np.int32)
        tensors[f"entropies_{index}"] = np.array([0.1, 2.0], dtype=np.float32)
        tensors[f"logprobs_{index}"] = np.array([-0.1, -2.5], dtype=np.float32)
        tensors[f"versions_{index}"] = np.array([3, 3], dtype=np.int32)
    save_file(tensors, folder / "tokens.safetensors")
    trajectory.path = storage.relative(folder)
    trajectory.save(update_fields=["path"])
    return folder


def _step(index: int, screen: dict[str, Any]) -> dict[str, Any]:
    return {
        "index": index,
        "screen": screen,
        "model_images": [screen],
        "task_area": [0, 50, 160, 210],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image"}, {"type": "text", "text": "Go <on>."}],
            }
        ],
        "text": "<|click|><x9><y12>" if index == 0 else "<|type|>Bob",
        "action": ACTIONS[index],
        "parse_error": None,
        "executed_px": {"x": 40, "y": 105} if index == 0 else None,
        "timings_s": {"queue": 0.1, "model": 0.2, "environment": 0.3},
        "num_prompt_tokens": 43,
        "num_response_tokens": 2,
        "token_texts": ["<|click|>", "<x9>"],
        "versions": [3, 3],
    }
