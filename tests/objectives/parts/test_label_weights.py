"""Importance weights from labels: against products by hand, constant where no label comes after a draw."""

from __future__ import annotations

import torch

import unknot
from unknot.core.expectation import Part
from unknot.objectives.parts.labels import effective_samples, label_weights


def draw_then_label(samples: int | None, gradient: str | None = None) -> unknot.Trace:
    """z of two values, then a label y given z; the first of two items knows y = 1."""
    q = unknot.Trace(samples)
    z = q.categorical(logits=torch.tensor([[0.0, 1.0], [0.0, 0.0]]), name="z", gradient=gradient)
    table = torch.tensor([[0.0, 1.0], [0.5, 0.0]])  # logits of y for each z
    labels = unknot.partial(torch.tensor([1, -1]))
    q.categorical(logits=table[z], value=labels, name="y", event_dims=0)
    return q


def test_no_labels_no_weights() -> None:
    q = unknot.Trace()
    q.normal(torch.zeros(3), 1.0, name="z")
    assert label_weights(q.variables()) is None


def test_the_weight_is_the_labels_probability_at_the_draw() -> None:
    q = draw_then_label(samples=4)
    weights = label_weights(q.variables())
    assert weights is not None
    assert weights.labeled.tolist() == [True, False]
    log_y = torch.tensor([[0.0, 1.0], [0.5, 0.0]]).log_softmax(-1)[:, 1]  # log q(y = 1 | z)
    torch.testing.assert_close(weights.log_weight[:, 0], log_y[q["z"].value[:, 0]])
    assert weights.log_weight[:, 1].tolist() == [0.0] * 4
    normalized = weights.normalized(gradient=False)
    assert normalized is not None
    torch.testing.assert_close(normalized.sum(0), torch.ones(2))
    values = torch.randn(4, 2)
    mean = weights.averages({"f": [Part(values, {}, "f")]}, normalized)["f"]
    torch.testing.assert_close(mean, (normalized * values).sum(0))


def test_an_enumerated_parent_is_summed_out() -> None:
    q = draw_then_label(samples=None, gradient="enumerate")
    weights = label_weights(q.variables())
    assert weights is not None
    prior = torch.tensor([0.0, 1.0]).softmax(-1)
    likelihood = torch.tensor([[0.0, 1.0], [0.5, 0.0]]).softmax(-1)[:, 1]
    torch.testing.assert_close(weights.log_weight[0, 0], (prior * likelihood).sum().log())
    posterior = prior * likelihood / (prior * likelihood).sum()
    which = (q["z"].value == 1).double()  # (K, 1, B)
    mean = weights.over_values({"f": [Part(which, q.axes, "f")]})["f"]
    torch.testing.assert_close(mean[0, 0], posterior[1].double())


def test_weights_of_labels_that_come_first_are_constant() -> None:
    q = unknot.Trace(samples=3)
    q.categorical(logits=torch.zeros(2, 4), value=torch.tensor([1, 2]), name="y")
    q.normal(torch.zeros(2), 1.0, name="z", event_dims=0)
    weights = label_weights(q.variables())
    assert weights is not None
    assert weights.labeled is True
    assert weights.constant
    torch.testing.assert_close(weights.log_weight, torch.full((2,), 0.25).log())


def test_effective_samples_lie_between_one_and_s() -> None:
    like = torch.zeros(2)
    assert effective_samples(None, like, 5).tolist() == [5.0, 5.0]
    even_and_one = torch.tensor([[0.25, 1.0], [0.25, 0.0], [0.25, 0.0], [0.25, 0.0]])
    assert effective_samples(even_and_one, like, 4).tolist() == [4.0, 1.0]
