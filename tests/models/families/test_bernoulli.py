"""Yes-or-no answers: torch's own distribution, modes, predictions."""

from __future__ import annotations

import torch
from torch.distributions import Bernoulli

import unknot
from unknot.models import node
from unknot.models.families.bernoulli import BernoulliFamily, RelaxedBernoulliFamily

TEMPERATURE = torch.tensor(0.5)


def make(size: int = 4) -> BernoulliFamily:
    return BernoulliFamily(node("z", "bernoulli", size, inferred_from=["x"]))


def test_the_distribution_is_torchs_own() -> None:
    outputs, yes = torch.randn(5, 4), torch.tensor([[1.0, 0.0, 1.0, 1.0]]).expand(5, 4)
    q = unknot.Trace()
    make().recognize(q, outputs, unknot.partial(yes), TEMPERATURE)
    torch.testing.assert_close(q["z"].log_prob, Bernoulli(logits=outputs).log_prob(yes).sum(-1))


def test_draws_are_whole_and_carry_gradient() -> None:
    outputs = torch.randn(5, 4, requires_grad=True)
    value = make().recognize(unknot.Trace(), outputs, None, TEMPERATURE)
    assert set(value.unique().tolist()) <= {0.0, 1.0}
    value.sum().backward()
    assert outputs.grad is not None
    assert bool((outputs.grad > 0).all())


def test_a_prediction_is_as_confident_as_its_least_certain_answer() -> None:
    dist = Bernoulli(probs=torch.tensor([[0.9, 0.4, 0.2]]))
    prediction = make(3).prediction(dist)
    assert prediction.value.tolist() == [[1.0, 0.0, 0.0]]
    torch.testing.assert_close(prediction.confidence, torch.tensor([0.6]))


def test_one_answer_is_two_classes() -> None:
    assert (BernoulliFamily.class_count(1), BernoulliFamily.class_count(2)) == (2, 0)


def test_relaxed_draws_are_soft_and_scored() -> None:
    one = RelaxedBernoulliFamily(node("z", "relaxed_bernoulli", 4, inferred_from=["x"]))
    outputs = torch.randn(5, 4, requires_grad=True)
    q = unknot.Trace()
    value = one.recognize(q, outputs, None, TEMPERATURE)
    assert bool(((value > 0) & (value < 1)).all())
    value.sum().backward()
    assert outputs.grad is not None
    assert bool(outputs.grad.isfinite().all())
    assert q["z"].log_prob.shape == (5,)
