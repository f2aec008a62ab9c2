"""Cuts the cost of the vision tower's first layer.

Qwen-VL embeds each patch by a convolution whose kernel is the patch itself, one
position each. That is a matrix product, and as one it is several times as fast on a
CPU; measured with oche-tiny: 15 % of the vision tower.
"""

from torch import Tensor, nn


def embed_patches_by_product(model: nn.Module) -> None:
    """Let every convolution over single patches multiply instead; same weights."""
    for module in model.modules():
        if isinstance(module, nn.Conv3d) and module.kernel_size == module.stride:
            # Not by assignment: a method is nothing that type checkers let one set.
            vars(module)["forward"] = _Product(module)


class _Product:
    """Stands in for the ``forward`` of one convolution."""

    def __init__(self, convolution: nn.Conv3d) -> None:
        self._convolution = convolution

    def __call__(self, patches: Tensor) -> Tensor:
        weight, bias = self._convolution.weight, self._convolution.bias
        if tuple(patches.shape[2:]) != self._convolution.kernel_size:
            return nn.Conv3d.forward(self._convolution, patches)
        out = nn.functional.linear(patches.flatten(1), weight.flatten(1), bias)
        return out[:, :, None, None, None]
