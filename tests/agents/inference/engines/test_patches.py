"""Embedding patches by a product instead of a convolution."""

import pytest
import torch

from agents.inference.engines.patches import embed_patches_by_product


@pytest.mark.parametrize("shape", [(5, 3, 1, 4, 4), (2, 3, 1, 8, 4)])
def test_the_product_equals_the_convolution(shape):
    torch.manual_seed(0)
    convolution = torch.nn.Conv3d(3, 6, kernel_size=(1, 4, 4), stride=(1, 4, 4))
    patches = torch.randn(shape)
    expected = convolution(patches)

    embed_patches_by_product(convolution)

    torch.testing.assert_close(convolution(patches), expected)


def test_weights_that_change_later_are_used():
    convolution = torch.nn.Conv3d(3, 6, kernel_size=(1, 4, 4), stride=(1, 4, 4))
    embed_patches_by_product(convolution)

    convolution.load_state_dict(
        {"weight": torch.zeros(6, 3, 1, 4, 4), "bias": torch.ones(6)}
    )

    assert (
        convolution(torch.randn(2, 3, 1, 4, 4)).tolist()
        == torch.ones(2, 6, 1, 1, 1).tolist()
    )


def test_a_convolution_that_overlaps_is_left_alone():
    convolution = torch.nn.Conv3d(3, 6, kernel_size=(1, 4, 4), stride=(1, 2, 2))

    embed_patches_by_product(convolution)

    assert "forward" not in vars(convolution)
