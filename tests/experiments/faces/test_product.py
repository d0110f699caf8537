"""The product of what parents make, parent by parent."""

from __future__ import annotations

import torch
from torch import Size

from experiments.faces.networks import ProductDecoder
from unknot.models.graphical_model import GraphicalModel

PRODUCT = {"name": "experiments.faces.networks:ProductDecoder", "width": 16}
NODES = {
    "who": {"family": "concrete", "size": 4, "inferred_from": ["x"], "labels": True},
    "light": {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True},
    "x": {"family": "normal", "parents": ["who", "light"], "decoder": PRODUCT},
}


def test_the_product_is_that_of_each_parents_own_network() -> None:
    torch.manual_seed(0)
    decoder = ProductDecoder([4, 3, 2], ["classes", "numbers", "rest"], Size((1, 5, 6)), 8)
    code = torch.randn(7, 9)
    parts = [code[:, :4], code[:, 4:7], code[:, 7:]]
    who, light, rest = (network(part) for network, part in zip(decoder.parents, parts, strict=True))
    expected = who * light * (1 + rest)
    torch.testing.assert_close(who, parts[0] @ decoder.parents[0][0].weight.T + decoder.parents[0][0].bias)  # type: ignore[index]
    torch.testing.assert_close(decoder.product(code), expected)
    flat = (
        torch.cat([expected, decoder.layer(expected).relu()], -1) @ decoder.data.weight.T + decoder.data.bias
    )
    torch.testing.assert_close(decoder(code), flat.reshape(7, 1, 5, 6))


def test_a_rest_that_says_nothing_leaves_the_product_as_it_is() -> None:
    torch.manual_seed(0)
    decoder = ProductDecoder([4, 3], ["classes", "rest"], Size((1, 5, 6)), 8)
    with torch.no_grad():
        decoder.parents[1][-1].weight.zero_()  # type: ignore[index]
        decoder.parents[1][-1].bias.zero_()  # type: ignore[index]
    one, two = torch.randn(6, 7), torch.randn(6, 7)
    two[:, :4] = one[:, :4]
    torch.testing.assert_close(decoder(one), decoder(two))


def test_a_description_asks_for_it() -> None:
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": NODES}, (1, 8, 8))
    made = model.generation["x"]
    assert isinstance(made, ProductDecoder)
    assert made.parts == ("classes", "numbers")
    x = torch.rand(5, 1, 8, 8)
    assert model.decode(x, model.encode(x, samples=3)).log_prob().shape == (3, 5)
