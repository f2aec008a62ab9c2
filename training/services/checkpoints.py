"""Checkpoints of a run as rows: registering, checking, choosing the newest whole one.

Writing them is the engine's part; here nothing is loaded, only hashed.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from django.db import transaction

from agents.inference.types import Weights
from training.engine.protocol import CheckpointInfo
from training.models import Checkpoint, Run
from training.services.files import storage
from training.services.policies import WEIGHTS_FILE
from training.states import CheckpointStatus

START_FOLDER = "start"
"""Beside the run's numbered versions: what the run started from, its own copy."""


def start_folder(run_id: UUID) -> Path:
    """Return the folder of version 0."""
    return storage().checkpoints(run_id) / START_FOLDER


def checkpoint_register_start(*, run_id: UUID, weights: Weights) -> None:
    """Keep the starting policy as the run's version 0; does nothing the second time.

    The run keeps a copy, so that it can be read however the policy it came from
    changes.
    """
    if Checkpoint.objects.filter(run_id=run_id, version=0).exists():
        return
    folder = start_folder(run_id)
    if not (folder / WEIGHTS_FILE).exists():
        _copy_policy(Path(weights.path), folder)
    Checkpoint.objects.get_or_create(
        run_id=run_id,
        version=0,
        defaults={
            "step": 0,
            "status": CheckpointStatus.READY,
            "path": storage().relative(folder),
            "sha256": weights.sha256,
            "size_bytes": sum(file.stat().st_size for file in folder.iterdir()),
        },
    )


def checkpoint_record(run: Run, info: CheckpointInfo) -> None:
    """Keep what the engine wrote as a version; call with the run's row locked."""
    Checkpoint.objects.update_or_create(
        run=run,
        version=info.version,
        defaults={
            "step": info.step,
            "status": CheckpointStatus.READY,
            "path": storage().relative(Path(info.path)),
            "sha256": info.sha256,
            "size_bytes": info.size_bytes,
        },
    )
    if info.version > run.policy_version:
        run.policy_version = info.version


def checkpoint_info(folder: Path) -> tuple[CheckpointInfo, dict[str, float]]:
    """Read what a checkpoint says of itself, and the metrics of its step.

    Raises:
        OSError, ValueError, KeyError: If it cannot be read.
    """
    manifest = json.loads((folder / "manifest.json").read_text())["files"]
    state = json.loads((folder / "trainer" / "state.json").read_text())
    info = CheckpointInfo(
        version=state["version"],
        step=state["step"],
        path=str(folder),
        sha256=manifest[WEIGHTS_FILE],
        size_bytes=sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()),
    )
    return info, state["metrics"]


def run_settle_version(*, run_id: UUID) -> None:
    """Set a run's version to its newest checkpoint that is whole.

    A damaged one is marked broken; the engine makes it again from the step before.
    """
    for checkpoint in _newest_first(run_id):
        if _is_whole(checkpoint):
            with transaction.atomic():
                run = Run.objects.select_for_update().get(pk=run_id)
                run.policy_version = checkpoint.version
                run.save(update_fields=["policy_version"])
            if run.kind == "rl":
                _remove_unrecorded(run_id)
            return
        Checkpoint.objects.filter(pk=checkpoint.pk).update(
            status=CheckpointStatus.BROKEN
        )


def _remove_unrecorded(run_id: UUID) -> None:
    """Remove versions without a row: their step ended with the attempt before it.

    Its groups went back, and the next batch of that step may hold others; an engine
    that found the step done would answer for what it never learned from.
    """
    known = set(
        Checkpoint.objects.filter(run_id=run_id).values_list("version", flat=True)
    )
    for folder in storage().checkpoints(run_id).glob("[0-9]" * 6):
        if int(folder.name) not in known:
            shutil.rmtree(folder, ignore_errors=True)


def _newest_first(run_id: UUID) -> Iterator[Checkpoint]:
    ready = Checkpoint.objects.filter(run_id=run_id, status=CheckpointStatus.READY)
    return ready.order_by("-version").iterator()


def _is_whole(checkpoint: Checkpoint) -> bool:
    file = storage().absolute(checkpoint.path) / WEIGHTS_FILE
    try:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return False
    return found == checkpoint.sha256


def _copy_policy(source: Path, target: Path) -> None:
    aside = target.with_name(f".copying-{os.getpid()}")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for file in source.iterdir():
        if file.is_file():
            # No hard link: whoever rewrites the original in place would change it here.
            shutil.copyfile(file, aside / file.name)
    shutil.rmtree(target, ignore_errors=True)
    aside.rename(target)
