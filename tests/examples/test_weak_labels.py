"""Weak labels: the posterior of the class and the evidence by Bayes' rule, item by item."""

from __future__ import annotations

import math

import pytest
import torch
from torch.distributions import Normal

import unknot
from tests.examples.loading import load

recipe = load("recipes/weak_labels")


@torch.no_grad()
@pytest.mark.parametrize("items", [1, 4, 6])  # four items, as many as classes
def test_posterior_and_evidence_are_those_of_bayes_rule(items: int, double: None) -> None:
    model, x = recipe.Model(), torch.randn(items, 2)
    model.confusion += torch.randn(4, 4)
    coarse = torch.tensor([1, -1, -1, 0, -1, 1])[:items]  # item 3 has all three, item 4 none
    report = torch.tensor([-1, 3, -1, 1, -1, 2])[:items]
    soft = torch.rand(6, 4)[:items] + 0.1
    soft[torch.tensor([True, True, False, False, True, True])[:items]] = 1.0
    traces = model.traces(x, coarse, report, soft)
    posterior = unknot.infer_discrete(*traces)["y"]
    evidence = unknot.objectives.importance_weighted(*traces)["evidence"]
    for i in range(items):
        joint = []
        for k in range(4):
            value = 0.25 * Normal(model.loc[k], 0.5).log_prob(x[i]).sum().exp().item() * soft[i, k].item()
            if coarse[i] >= 0:
                value *= float([0, 0, 1, 1][k] == coarse[i])
            if report[i] >= 0:
                value *= model.confusion[k].softmax(-1)[report[i]].item()
            joint.append(value)
        assert evidence[i].item() == pytest.approx(math.log(sum(joint)), abs=1e-9)
        assert posterior[i].tolist() == pytest.approx([value / sum(joint) for value in joint], abs=1e-9)


def test_items_without_a_soft_label_do_not_count() -> None:
    y = torch.arange(12) % 4
    coarse, report, soft = recipe.weaken(y)
    known = torch.stack([coarse >= 0, report >= 0, (soft != 1).any(1)])
    assert (known.sum(0) == 1).all()
    assert torch.equal(soft.argmax(1)[known[2]], y[known[2]])
