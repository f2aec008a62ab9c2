"""One model in memory: preparing chats for it, and giving it new weights in place."""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor
from transformers import AutoModelForImageTextToText

from agents.errors import PolicyInvalid
from agents.inference.engines import weights as files
from agents.inference.engines.base import BadPrompt, SampleRequest
from agents.inference.engines.patches import embed_patches_by_product
from agents.inference.engines.pictures import Features, Picture, PictureShelf
from agents.inference.types import Weights
from agents.processing import EncodedImages, PolicyProcessor

_UNREADABLE: Final = (
    UnidentifiedImageError,
    Image.DecompressionBombError,
    OSError,
    ValueError,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedPrompt:
    """A chat as tensors; T tokens."""

    ids: list[int]
    positions: Tensor
    """int64 [3, T]: time, row and column of each token."""
    next_position: int
    """Of the first response token, on all three axes."""
    pictures: Sequence[Picture]


class ResidentModel:
    """A model with its processor, and the weights that it has now."""

    def __init__(
        self,
        *,
        name: str,
        model: Any,
        processor: PolicyProcessor,
        weights: Weights,
        architecture: dict[str, Any],
    ) -> None:
        self.name = name
        self.model = model
        self.processor = processor
        self.weights = weights
        self.generation = 0
        """Counts swaps: unlike the version, never the same for other weights."""
        self._architecture = architecture
        self._shelf = PictureShelf()
        self._token_texts: dict[int, str] = {}
        text_config = model.config.get_text_config()
        self.max_tokens: int = text_config.max_position_embeddings
        banned_V = torch.zeros(text_config.vocab_size)
        banned_V[list(processor.banned_token_ids)] = float("-inf")
        self.banned_V = banned_V

    @classmethod
    def load(cls, name: str, weights: Weights) -> Self:
        """Read a policy folder, float32, on the CPU.

        Raises:
            PolicyInvalid: If something is missing, broken or not as announced.
        """
        folder = Path(weights.path)
        files.check_hash(folder, weights.sha256)
        architecture = files.read_architecture(folder)
        try:
            model: Any = AutoModelForImageTextToText.from_pretrained(
                folder, dtype=torch.float32, local_files_only=True
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise PolicyInvalid(f"cannot load {folder}: {error}") from error
        resident = cls(
            name=name,
            model=model,
            processor=PolicyProcessor.load(folder),
            weights=weights,
            architecture=architecture,
        )
        model.eval()
        _leave_files(model)
        embed_patches_by_product(model)
        # from_pretrained only warns of missing tensors and makes up random ones.
        resident._check_shapes(folder)
        return resident

    def read_update(self, weights: Weights) -> dict[str, Tensor]:
        """Read and check another version of this model, without touching it yet.

        Raises:
            PolicyInvalid: If it is broken, not as announced, or another architecture.
        """
        folder = Path(weights.path)
        files.check_hash(folder, weights.sha256)
        if files.read_architecture(folder) != self._architecture:
            raise PolicyInvalid(
                f"{folder} is another architecture than the {self.name} loaded here"
            )
        self._check_shapes(folder)
        return files.read_tensors(folder)

    def swap(self, weights: Weights, tensors: dict[str, Tensor]) -> None:
        """Take over weights that ``read_update`` checked; no answer may be half done."""
        self.generation += 1
        self.model.load_state_dict(tensors, strict=False)
        self.weights = weights

    def prepare(self, request: SampleRequest) -> PreparedPrompt:
        """Turn a chat into tensors; safe to call from any thread.

        Raises:
            BadPrompt: If a picture cannot be read, or the chat and answer are longer
                than the model takes.
        """
        pictures = [self._picture(data) for data in request.images]
        try:
            ids = self.processor.encode_chat(
                request.messages, _join([picture.encoded for picture in pictures])
            )
        except PolicyInvalid as error:
            raise BadPrompt(str(error)) from error
        if len(ids) + request.max_tokens > self.max_tokens:
            raise BadPrompt(
                f"{len(ids)} prompt tokens and {request.max_tokens} response tokens do "
                f"not fit into the model's {self.max_tokens}"
            )
        positions, next_position = self._positions(ids, pictures)
        return PreparedPrompt(
            ids=ids.tolist(),
            positions=positions,
            next_position=next_position,
            pictures=pictures,
        )

    def picture_features(self, pictures: Sequence[Picture]) -> list[Features]:
        """Return the vision tower's features; each distinct picture passes it once."""
        missing = {
            id(picture): picture
            for picture in pictures
            if picture.features_of(self.generation) is None
        }
        if missing:
            self._see(list(missing.values()))
        found = [picture.features_of(self.generation) for picture in pictures]
        return [features for features in found if features is not None]

    def token_texts(self, ids: Sequence[int]) -> list[str]:
        """Return what each token stands for."""
        for token in ids:
            if token not in self._token_texts:
                self._token_texts[token] = self.processor.token_texts([token])[0]
        return [self._token_texts[token] for token in ids]

    def _see(self, pictures: list[Picture]) -> None:
        joined = _join([picture.encoded for picture in pictures])
        if joined is None:
            return
        out = self.model.get_image_features(
            torch.from_numpy(joined.pixel_values),
            torch.from_numpy(joined.grid_thw),
            return_dict=True,
        )
        layers = getattr(out, "deepstack_features", None) or []
        for number, picture in enumerate(pictures):
            picture.features = Features(
                generation=self.generation,
                # Copies: a view would keep the features of the whole batch alive.
                merged=out.pooler_output[number].clone(),
                deepstack=tuple(layer[number].clone() for layer in layers),
            )

    def _picture(self, data: bytes) -> Picture:
        def make() -> EncodedImages:
            encoded = self.processor.encode_images([_open(data)])
            if encoded is None:
                raise BadPrompt("the image processor made nothing of a picture")
            return encoded

        return self._shelf.get_or_make(hashlib.sha256(data).hexdigest(), make)

    def _positions(
        self, ids: np.ndarray, pictures: Sequence[Picture]
    ) -> tuple[Tensor, int]:
        ids_1T = torch.from_numpy(ids.astype(np.int64)).unsqueeze(0)
        joined = _join([picture.encoded for picture in pictures])
        positions_31T, _ = self.model.model.get_rope_index(
            ids_1T,
            mm_token_type_ids=(ids_1T == self.processor.image_token_id).int(),
            image_grid_thw=None
            if joined is None
            else torch.from_numpy(joined.grid_thw),
        )
        return positions_31T[:, 0], int(positions_31T.max()) + 1

    def _check_shapes(self, folder: Path) -> None:
        expected = {
            name: tuple(tensor.shape)
            for name, tensor in self.model.state_dict().items()
        }
        tied = frozenset(getattr(self.model, "all_tied_weights_keys", None) or ())
        files.check_shapes(folder, expected, optional=tied)


def _leave_files(model: Any) -> None:
    """Copy weights into memory.

    They are loaded as views of their file: one that is rewritten would change the
    weights, and one that gets shorter would kill the process.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()


def _open(data: bytes) -> Image.Image:
    try:
        return Image.open(io.BytesIO(data)).convert("RGB")
    except _UNREADABLE as error:
        raise BadPrompt(f"cannot read a picture: {error}") from error


def _join(images: Sequence[EncodedImages]) -> EncodedImages | None:
    if not images:
        return None
    if len(images) == 1:
        return images[0]
    return EncodedImages(
        pixel_values=np.concatenate([image.pixel_values for image in images]),
        grid_thw=np.concatenate([image.grid_thw for image in images]),
    )
