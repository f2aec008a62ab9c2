"""What a policy reference means: a folder of weights, and the name it is served by.

References are ``oche-tiny`` (a policy that ships with the studio, or one below
``policies/`` of the media root), ``<run id>@<version>`` and ``<run id>`` (its newest);
evaluations also know ``oracle`` and ``random``, which need no weights.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.conf import settings

from agents.inference.types import Weights
from agents.policies import builtin
from training.errors import PolicyNotFound
from training.models import Checkpoint
from training.selectors import checkpoints_visible_to
from training.services.files import storage
from training.states import CheckpointStatus

if TYPE_CHECKING:
    from training.selectors import AnyUser

WEIGHTS_FILE: Final = "model.safetensors"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_OF_RUN = re.compile(r"(?P<run>[0-9a-fA-F-]{32,36})(@(?P<version>\d{1,9}))?")


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedWeights:
    """Weights, and the name that inference workers serve them by."""

    model: str
    weights: Weights


def is_served(reference: str) -> bool:
    """Return whether a policy is weights on inference workers, not a script of ours."""
    return reference not in builtin.NAMES


def policy_resolve(*, reference: str, owner: "AnyUser") -> ServedWeights:
    """Find the weights behind a reference, under the name of that fixed version.

    Raises:
        PolicyNotFound: If there is no such policy, ``owner`` may not see it, or its
            folder has no weights.
    """
    of_run = _OF_RUN.fullmatch(reference)
    if of_run:
        return _of_run(of_run["run"], of_run["version"], owner)
    if not _NAME.fullmatch(reference):
        raise PolicyNotFound(
            f"{reference!r} is no policy: expected a name such as oche-tiny, "
            "or <run id>@<version>"
        )
    for root in (Path(settings.BUNDLED_POLICIES), storage().root / "policies"):
        folder = root / reference
        if (folder / WEIGHTS_FILE).is_file():
            return ServedWeights(
                model=f"policy-{reference}", weights=_weights_of_folder(folder)
            )
    raise PolicyNotFound(f"there is no policy named {reference!r}")


def weights_of_checkpoint(checkpoint: Checkpoint) -> Weights:
    """Return the weights of a checkpoint as its row describes them."""
    return Weights(
        path=str(storage().absolute(checkpoint.path)),
        sha256=checkpoint.sha256,
        version=checkpoint.version,
    )


def served_name(run_id: UUID) -> str:
    """Return the name by which a run's moving policy is served."""
    return f"run-{run_id}"


def _of_run(run: str, version: str | None, owner: "AnyUser") -> ServedWeights:
    try:
        run_id = UUID(run)
    except ValueError:
        raise PolicyNotFound(f"{run!r} is no run id") from None
    ready = checkpoints_visible_to(owner).filter(
        run_id=run_id, status=CheckpointStatus.READY
    )
    if version is not None:
        ready = ready.filter(version=int(version))
    checkpoint = ready.order_by("-version").first()
    if checkpoint is None:
        what = "no checkpoint" if version is None else f"no version {version}"
        raise PolicyNotFound(f"run {run_id} has {what}")
    return ServedWeights(
        model=f"{served_name(run_id)}@{checkpoint.version}",
        weights=weights_of_checkpoint(checkpoint),
    )


def _weights_of_folder(folder: Path) -> Weights:
    stat = (folder / WEIGHTS_FILE).stat()
    sha256 = _hash_file(str(folder / WEIGHTS_FILE), stat.st_mtime_ns, stat.st_size)
    return Weights(path=str(folder), sha256=sha256, version=0)


@lru_cache(maxsize=64)
def _hash_file(file: str, mtime_ns: int, size: int) -> str:
    # Time and size are part of the key: a file that changed is hashed again.
    with Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
