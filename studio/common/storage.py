"""Where each file lies below the media root, and how a file is written; no Django."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

Id = UUID | str


class OutsideMediaRoot(Exception):
    """A stored path leads out of the media root."""


@dataclass(frozen=True, slots=True)
class Storage:
    """The layout of the media root; nothing here is created by asking for its path."""

    root: Path

    def frame(self, sha256: str) -> Path:
        """Return the file of a picture, named by its pixels."""
        return self.root / "frames" / sha256[:2] / f"{sha256}.webp"

    def trajectory(self, trajectory_id: Id, *, run_id: Id | None = None) -> Path:
        """Return the folder of a trajectory, inside its run's where it has one."""
        folder = self.run(run_id) if run_id else self.root
        return folder / "trajectories" / str(trajectory_id)

    def run(self, run_id: Id) -> Path:
        """Return the folder of a run."""
        return self.root / "runs" / str(run_id)

    def batch(self, run_id: Id, step: int) -> Path:
        """Return the file that tells the engine what one optimizer step learns from."""
        return self.run(run_id) / "batches" / f"{step}.json"

    def attempt_logs(self, run_id: Id, attempt: int) -> Path:
        """Return the folder of one attempt's logs."""
        return self.run(run_id) / "logs" / f"attempt-{attempt}"

    def checkpoints(self, run_id: Id) -> Path:
        """Return the folder of all of a run's checkpoints."""
        return self.root / "checkpoints" / str(run_id)

    def checkpoint(self, run_id: Id, version: int) -> Path:
        """Return the folder of one policy version."""
        return self.checkpoints(run_id) / f"{version:06d}"

    def dataset(self, dataset_id: Id) -> Path:
        """Return the folder of a data set."""
        return self.root / "datasets" / str(dataset_id)

    def relative(self, path: Path) -> str:
        """Return the path as rows keep it.

        Raises:
            OutsideMediaRoot: If it is not below the root.
        """
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            raise OutsideMediaRoot(f"{path} is not below {self.root}") from None

    def absolute(self, stored: str) -> Path:
        """Return the place of a path that a row keeps.

        Raises:
            OutsideMediaRoot: If it leads out of the root.
        """
        path = Path(os.path.normpath(self.root / stored))
        self.relative(path)
        return path


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all, folders made as needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid4().hex[:8]}.draft")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write JSON that appears whole or not at all."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    write_bytes(path, data.encode())


def read_json(path: Path) -> Any:
    """Read what ``write_json`` wrote."""
    return json.loads(path.read_bytes())
