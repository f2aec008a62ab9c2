"""Words shared by the clients and the engines of inference workers; no torch."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """One version of a policy on the disk."""

    version: int
    path: str
    """A folder in Hugging Face layout."""
    sha256: str
    """Of the folder's ``model.safetensors``."""
