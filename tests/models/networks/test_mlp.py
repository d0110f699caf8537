"""Networks: shapes on any leading axes, and each part doing what it says."""

from __future__ import annotations

import pytest
import torch
from torch import Size

from unknot.models.networks.conv import ImageDecoder, ImageTrunk
from unknot.models.networks.mlp import LeadingAxes, VectorDecoder, VectorTrunk, mlp
from unknot.models.networks.network import Trunk


def test_a_perceptron_has_the_layers_it_is_given() -> None:
    linear = [m for m in mlp(7, [5, 3], 2) if isinstance(m, torch.nn.Linear)]
    assert [(m.in_features, m.out_features) for m in linear] == [(7, 5), (5, 3), (3, 2)]
    assert any(isinstance(m, torch.nn.Dropout) for m in mlp(7, [5], 2, dropout=0.5))
    bent = [type(m) for m in mlp(7, [5, 3], 2, activation="tanh") if not isinstance(m, torch.nn.Linear)]
    assert bent == [torch.nn.Tanh, torch.nn.Tanh]


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 7), (1, 28, 28)])
@pytest.mark.parametrize("leading", [(2,), (3, 2)])
def test_images_in_and_out(shape: tuple[int, ...], leading: tuple[int, ...]) -> None:
    trunk = ImageTrunk(Size(shape)).eval()
    x = torch.rand(*leading, *shape)
    features = trunk(x)
    assert features.shape == (*leading, trunk.features)
    image = ImageDecoder(5, Size(shape), width=16)(torch.rand(*leading, 5))
    assert image.shape == (*leading, *shape)


def test_leading_axes_are_folded_and_restored() -> None:
    network = LeadingAxes(torch.nn.Conv2d(1, 2, 3, padding=1), event_dims=3)
    x = torch.rand(4, 5, 1, 6, 6)
    torch.testing.assert_close(network(x)[2], network(x[2]))


@pytest.mark.parametrize(
    ("trunk", "shape"),
    [
        (VectorTrunk(Size((6,)), [8, 4]), (6,)),
        (VectorTrunk(Size((1, 3, 3)), [4]), (1, 3, 3)),
    ],
)
def test_vectors_in(trunk: Trunk, shape: tuple[int, ...]) -> None:
    assert trunk(torch.rand(5, *shape)).shape == (5, 4) == (5, trunk.features)


def test_a_vector_decoder_gives_any_shape() -> None:
    assert VectorDecoder(3, Size((2, 4)), [5])(torch.rand(7, 6, 3)).shape == (7, 6, 2, 4)
