"""Templates that are moved: against a loop over pixels, and what a description must say."""

from __future__ import annotations

import pytest
import torch
from torch import Size, nn

from experiments.digits.posed_decoder import PosedDecoder
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel

POSED = {"name": "experiments.digits.posed_decoder:PosedDecoder", "template": {"name": "mlp", "hidden": [16]}}
NODES = {
    "digit": {"family": "concrete", "size": 3, "inferred_from": ["x"], "labels": True},
    "pose": {"family": "normal", "size": 6, "inferred_from": ["x", "digit"]},
    "x": {"family": "bernoulli", "parents": ["digit", "pose"], "decoder": POSED},
}
SHAPE = Size((1, 5, 6))


class Same(nn.Module):
    """One template for every code."""

    def __init__(self, image: torch.Tensor) -> None:
        super().__init__()
        self.image = image

    def forward(self, code: torch.Tensor) -> torch.Tensor:
        return self.image.expand(*code.shape[:-1], *SHAPE)


def test_every_pixel_is_the_templates_where_the_pose_says() -> None:
    torch.manual_seed(0)
    image, pose = torch.randn(SHAPE, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    found = PosedDecoder(Same(image), SHAPE)(torch.cat([torch.zeros(2), pose]).expand(4, -1))
    height, width = SHAPE[1:]
    for row in range(height):
        for column in range(width):
            u, v = (2 * column + 1) / width - 1, (2 * row + 1) / height - 1  # from -1 to 1
            across = (1 + 0.25 * pose[0]) * u + 0.25 * pose[1] * v + 0.12 * pose[4]
            down = 0.25 * pose[2] * u + (1 + 0.25 * pose[3]) * v + 0.12 * pose[5]
            x = float((across + 1) * width - 1) / 2  # in pixels of the template
            y = float((down + 1) * height - 1) / 2
            x, y = min(max(x, 0.0), width - 1.0), min(max(y, 0.0), height - 1.0)
            left, top = min(int(x), width - 2), min(int(y), height - 2)
            a, b = x - left, y - top
            square = image[0, top : top + 2, left : left + 2]
            expected = (square * torch.tensor([[(1 - a) * (1 - b), a * (1 - b)], [(1 - a) * b, a * b]])).sum()
            torch.testing.assert_close(found[2, 0, row, column], expected)


def test_a_description_asks_for_it() -> None:
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": NODES}, (1, 8, 8))
    assert isinstance(model.generation["x"], PosedDecoder)
    x = torch.rand(5, 1, 8, 8)
    p = model.decode(x, model.encode(x, samples=3))
    assert p.log_prob().shape == (3, 5)
    p.log_prob().sum().backward()
    assert bool(model.recognition["pose"].network[-1].weight.grad.any())  # type: ignore[index, union-attr]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pose": {**NODES["pose"], "size": 5}}, "the last is 'pose', normal of size 5"),
        ({"x": {**NODES["x"], "parents": ["pose", "digit"]}}, "the last is 'digit', concrete of size 3"),
    ],
)
def test_what_has_no_pose_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        GraphicalModel({"nodes": {**NODES, **change}}, (1, 8, 8))
