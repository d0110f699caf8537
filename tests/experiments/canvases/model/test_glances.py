"""Glances: S17's encoder of places."""

from __future__ import annotations

import torch

from experiments.canvases.model.glances import Glances


def test_places_depend_on_the_canvas_and_on_the_look() -> None:
    torch.manual_seed(0)
    looks = Glances(20, 0.3, fewest=1, most=3).eval()
    looked = looks(torch.rand(2, 1, 20, 20), [None] * 3, None)
    means = torch.stack([look["place"].dist.mean for look in looked.looks])  # (3, B, 3)
    assert looked.count.shape == (2, 3)
    assert not torch.allclose(means[0], means[1])
    assert not torch.allclose(means[:, 0], means[:, 1])


def test_looks_do_not_know_how_many_there_are() -> None:
    """As S17 draws it: the count comes from the canvas, and the places whatever the count."""
    torch.manual_seed(0)
    looks = Glances(20, 0.3, fewest=1, most=3)
    looks(torch.rand(2, 1, 20, 20), [None] * 3, None).count.sum().backward()
    assert looks.next.weight_ih.grad is None
    assert looks.find.weight.grad is None
