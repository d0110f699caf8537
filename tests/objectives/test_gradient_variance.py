"""What the score function rewards: the gradient keeps its mean and loses the noise of terms that no draw reaches."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from benchmarks import gradient_variance
from unknot.objectives import semi_supervised


def test_the_benchmark_measures_every_program() -> None:
    rows = {row["name"]: row["value"] for row in gradient_variance.run(draws=10)}
    assert all(value > 0 for value in rows.values())
    view = "missing view: "
    # draws that nothing reads have no score-function term, wherever the site is written
    assert rows[view + "traced, partial, written first"] == pytest.approx(rows[view + "partial"], rel=1e-4)
    assert rows[view + "partial, written first"] > 3 * rows[view + "partial"]


def test_labels_of_unlabeled_items_are_rewarded_by_what_they_reach_alone() -> None:
    """Eq. 8 of programs whose dependences are known, against programs that know only the order of their sites."""
    torch.manual_seed(0)
    model, x = gradient_variance.Labeled().double(), torch.randn(3, gradient_variance.PIXELS).double()
    labels, known = torch.tensor([0, 1, 2]), torch.tensor([True, False, False])

    def traced() -> Tensor:
        q = unknot.trace(model.encode, x, labels, known)
        return semi_supervised(q, unknot.trace(model.decode, x, q)).loss

    def by_hand() -> Tensor:
        q = model.encode(x, labels, known)
        return semi_supervised(q, model.decode(x, q)).loss

    slopes = []
    for loss in (by_hand, traced):
        torch.manual_seed(1)  # the same draws
        slopes.append(gradient_variance.gradients(model, loss, 200))
    difference = slopes[1] - slopes[0]
    scores = difference.mean(0) / (difference.var(0) / len(difference)).sqrt()
    assert scores[difference.var(0) > 0].abs().max() < 4.5
    names = [name for name, weight in model.named_parameters() for _ in range(weight.numel())]
    of_label = torch.tensor([name.startswith("label.") for name in names])
    before, after = (one[:, of_label].var(0).sum() for one in slopes)
    assert after < 0.8 * before
