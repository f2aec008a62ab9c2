"""What requests of the training API need: a policy, and files of a trajectory."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from studio.common.frames import frame_save
from studio.common.storage import write_json
from tests.factories import RunFactory, TaskFactory, TrajectoryFactory


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, settings) -> Path:
    """Let there be a policy ``oche-tiny``; its weights are never loaded here."""
    settings.BUNDLED_POLICIES = tmp_path / "bundled"
    folder = settings.BUNDLED_POLICIES / "oche-tiny"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def task(db):
    """The task ``miniwob/click-test``."""
    return TaskFactory()


@pytest.fixture
def played(alice, task, media: Path):
    """A trajectory of alice's with its files: one step on a red screen, then a blue."""
    run = RunFactory(owner=alice)
    trajectory = TrajectoryFactory(run=run, solved=True)
    trajectory.path = f"runs/{run.pk}/trajectories/{trajectory.pk}"
    trajectory.save()
    shown = {
        name: {
            "sha256": frame_save(media, Image.new("RGB", (16, 21), name)),
            "width": 16,
            "height": 21,
        }
        for name in ("red", "blue")
    }
    record = {
        "format_version": 1,
        "id": str(trajectory.pk),
        "task": "miniwob/click-test",
        "steps": [
            {
                "index": 0,
                "screen": shown["red"],
                "model_images": [shown["red"]],
                "text": "<|click|><x1><y2>",
            }
        ],
        "final_screen": shown["blue"],
    }
    folder = media / trajectory.path
    write_json(folder / "trajectory.json", record)
    (folder / "tokens.safetensors").write_bytes(b"tokens")
    hashes = {name: frame["sha256"] for name, frame in shown.items()}
    return SimpleNamespace(trajectory=trajectory, record=record, hashes=hashes)
