"""Layout: the formula point by point; inside the canvas, and apart."""

from __future__ import annotations

import math

import torch

from experiments.canvases.model.layout import log_weights


def sigmoid(v: float) -> float:
    return 1 / (1 + math.exp(-v))


def test_is_the_formula_point_by_point() -> None:
    torch.manual_seed(0)
    points = torch.rand(7, 2) * 2 - 1
    earlier = [
        torch.tensor([[-0.3, 0.1, 0.4], [0.5, 0.5, 0.5]]),
        torch.tensor([[0.2, -0.4, 0.3], [0.0, 0.0, 0.6]]),
    ]
    found = log_weights(points, earlier, size=0.45)
    for b in range(2):
        for i, (x, y) in enumerate(points.tolist()):
            expected = math.log(sigmoid((0.72 - abs(x)) / 0.05)) + math.log(sigmoid((0.66 - abs(y)) / 0.05))
            for place in earlier:
                u, v, scale = place[b].tolist()
                side = scale + 0.45
                across = sigmoid((abs(x - u) / side - 0.55) / 0.05)
                up = sigmoid((abs(y - v) / side - 0.68) / 0.05)
                expected += math.log(0.02 + 1 - (1 - across) * (1 - up))
            assert math.isclose(found[b, i].item(), expected, rel_tol=1e-4, abs_tol=1e-4)


def test_things_lie_inside_and_apart() -> None:
    points = torch.tensor([[0.0, 0.0], [0.95, 0.0], [0.0, -0.9], [0.1, 0.1], [0.6, 0.0]])
    middle, right, top, near, aside = log_weights(points, [], 0.45).tolist()
    assert min(middle, near, aside) > max(right, top) + 3
    middle, _, _, near, aside = log_weights(points, [torch.tensor([0.0, 0.0, 0.45])], 0.45).tolist()
    assert aside > max(middle, near) + 3
