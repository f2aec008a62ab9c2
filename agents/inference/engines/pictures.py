"""Keeps prepared pictures: the siblings of a group begin with the same screen.

Features of the vision tower belong to one state of the weights and are stamped
with it; a picture prepared before a swap is used, its features are not.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from torch import Tensor

from agents.processing import EncodedImages

MAX_SHELF_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class Features:
    """What the vision tower makes of one picture."""

    generation: int
    """State of the weights that made them."""
    merged: Tensor
    """[tokens, width]."""
    deepstack: tuple[Tensor, ...]
    """One [tokens, width] for each layer that is fed; empty for other models."""


@dataclass(kw_only=True, slots=True)
class Picture:
    """One picture, ready for the vision tower."""

    encoded: EncodedImages
    features: Features | None = field(default=None, repr=False)
    """Set and read by the engine's thread alone."""

    def features_of(self, generation: int) -> Features | None:
        """Return the features if these very weights made them."""
        if self.features is None or self.features.generation != generation:
            return None
        return self.features


class PictureShelf:
    """The pictures used last, by the hash of their file; safe for threads."""

    def __init__(self, *, max_bytes: int = MAX_SHELF_BYTES) -> None:
        self._max_bytes = max_bytes
        self._num_bytes = 0
        self._pictures: OrderedDict[str, Picture] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_make(self, key: str, make: Callable[[], EncodedImages]) -> Picture:
        """Return the picture of a key, made anew if it is not here."""
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
        picture = Picture(encoded=make())
        with self._lock:
            # Another thread may have been first: then its picture is the one.
            kept = self._pictures.setdefault(key, picture)
            if kept is picture:
                self._num_bytes += picture.encoded.pixel_values.nbytes
                self._drop_oldest()
        return kept

    def _drop_oldest(self) -> None:
        while self._num_bytes > self._max_bytes and len(self._pictures) > 1:
            _, dropped = self._pictures.popitem(last=False)
            self._num_bytes -= dropped.encoded.pixel_values.nbytes
