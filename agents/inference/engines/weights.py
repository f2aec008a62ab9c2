"""Reads a policy folder's weights, and refuses what does not fit.

Only safetensors are read: no pickle, so a folder can hold no code.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig

from agents.errors import PolicyInvalid

WEIGHTS_FILE: Final = "model.safetensors"

Shapes = Mapping[str, tuple[int, ...]]
"""Name of each tensor -> its shape."""

_WITHOUT_MEANING: Final = frozenset(
    {"dtype", "torch_dtype", "transformers_version", "_name_or_path", "architectures"}
)
"""What may differ between two configurations of one architecture."""


def check_hash(folder: Path, sha256: str) -> None:
    """Compare the weights with what was announced.

    Raises:
        PolicyInvalid: If the file is missing or another.
    """
    path = folder / WEIGHTS_FILE
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PolicyInvalid(f"cannot read {path}: {error.strerror}") from error
    if found != sha256:
        raise PolicyInvalid(f"{path} has sha256 {found}, expected {sha256}")


def check_shapes(folder: Path, expected: Shapes, *, optional: frozenset[str]) -> None:
    """Compare the header of the weights with what the model needs.

    Args:
        folder: The policy's folder.
        expected: The model's own tensors.
        optional: Names that a file may leave out: tied to others.

    Raises:
        PolicyInvalid: With the names that are missing, unknown or of another shape.
    """
    found = _read_shapes(folder / WEIGHTS_FILE)
    wrong = [
        f"{name} is {_words(found[name])}, expected {_words(shape)}"
        for name, shape in expected.items()
        if name in found and found[name] != shape
    ]
    wrong += [f"{name} is missing" for name in expected.keys() - found - optional]
    wrong += [f"{name} is unknown" for name in found.keys() - expected]
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise PolicyInvalid(
            f"{folder} does not fit the model: {'; '.join(sorted(wrong)[:3])}{more}"
        )


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Return the weights by name.

    Raises:
        PolicyInvalid: If the file is broken.
    """
    try:
        return load_file(folder / WEIGHTS_FILE)
    except (OSError, SafetensorError) as error:
        raise PolicyInvalid(f"cannot read {folder / WEIGHTS_FILE}: {error}") from error


def read_architecture(folder: Path) -> dict[str, Any]:
    """Return a configuration without what does not decide the architecture.

    Raises:
        PolicyInvalid: If it is missing or transformers does not know it.
    """
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise PolicyInvalid(f"{folder} has no usable config.json: {error}") from error
    architecture: dict[str, Any] = _strip(config.to_dict())
    return architecture


def _read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {
                name: tuple(file.get_slice(name).get_shape())
                for name in file.keys()  # noqa: SIM118 - not a dict: no iteration
            }
    except (OSError, SafetensorError) as error:
        raise PolicyInvalid(f"cannot read {path}: {error}") from error


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _strip(item)
            for key, item in value.items()
            if key not in _WITHOUT_MEANING
        }
    return value


def _words(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a single number"
