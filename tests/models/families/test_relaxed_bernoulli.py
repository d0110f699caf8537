"""Yes-or-no answers, relaxed: soft draws of torch's own distribution."""

from __future__ import annotations

import torch

import unknot
from unknot.models import node
from unknot.models.families.relaxed_bernoulli import RelaxedBernoulliFamily

TEMPERATURE = torch.tensor(0.5)


def test_draws_are_soft_and_scored() -> None:
    one = RelaxedBernoulliFamily(node("z", "relaxed_bernoulli", 4, inferred_from=["x"]))
    outputs = torch.randn(5, 4, requires_grad=True)
    q = unknot.Trace()
    value = one.recognize(q, outputs, None, TEMPERATURE)
    assert bool(((value > 0) & (value < 1)).all())
    value.sum().backward()
    assert outputs.grad is not None
    assert bool(outputs.grad.isfinite().all())
    assert q["z"].log_prob.shape == (5,)
