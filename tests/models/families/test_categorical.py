"""One of K classes, as it is: enumerated, unless another gradient is named."""

from __future__ import annotations

import torch
from torch.distributions import Categorical

import unknot
from unknot.models import node
from unknot.models.families.categorical import CategoricalFamily

TEMPERATURE = torch.tensor(0.5)


def test_classes_are_enumerated() -> None:
    outputs = torch.randn(5, 3)
    q = unknot.Trace()
    value = CategoricalFamily(node("y", "categorical", 3, inferred_from=["x"])).recognize(
        q, outputs, None, TEMPERATURE
    )
    assert value.shape == (3, 1, 5, 3)  # an axis of its own, that of the draws, items, one-hot
    for k in range(3):
        assert value[k, 0].argmax(-1).tolist() == [k] * 5
        expected = Categorical(logits=outputs).log_prob(torch.full((5,), k))
        torch.testing.assert_close(q["y"].log_prob[k, 0], expected)


def test_another_gradient_draws_whole_classes() -> None:
    described = node("y", "categorical", 3, inferred_from=["x"], gradient="score_function")
    value = CategoricalFamily(described).recognize(unknot.Trace(), torch.randn(5, 3), None, TEMPERATURE)
    assert value.shape == (5, 3)
    assert value.sum(-1).tolist() == [1.0] * 5


def test_concrete_is_taken_for_labels_when_nobody_names_a_family() -> None:
    assert CategoricalFamily.suits == ()
    assert CategoricalFamily.label_kind == "categorical"
