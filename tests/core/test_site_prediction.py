"""The mode of a site and its confidence, against probabilities written out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from unknot import Trace, partial
from unknot.core.site_prediction import first_draw, has_classes, label_or_prediction, predict_site

LOGITS = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])


@pytest.mark.parametrize("site", ["categorical", "one_hot_categorical", "concrete"])
def test_a_site_of_classes_is_predicted_with_the_probability_of_its_largest_class(site: str) -> None:
    q = Trace()
    more = {"temperature": 0.66} if site == "concrete" else {}
    getattr(q, site)(logits=LOGITS, name="y", **more)
    found = predict_site(q["y"])
    classes = found.value if found.value.ndim == 1 else found.value.argmax(-1)
    assert classes.tolist() == [1, 0]
    exponents = LOGITS.exp()
    torch.testing.assert_close(found.confidence, (exponents / exponents.sum(-1, keepdim=True)).max(-1).values)
    assert has_classes(q["y"].dist)


def test_the_least_certain_of_several_binary_values_counts() -> None:
    q = Trace()
    q.bernoulli(probs=torch.tensor([[0.9, 0.2], [0.5, 0.01]]), name="b")
    found = predict_site(q["b"])
    assert found.value[0].tolist() == [1.0, 0.0]
    torch.testing.assert_close(found.confidence, torch.tensor([0.8, 0.5]))
    assert not has_classes(q["b"].dist)


def test_numbers_are_predicted_by_their_mode_with_confidence_one_and_without_gradient() -> None:
    q = Trace()
    loc = torch.tensor([[1.0], [2.0]], requires_grad=True)
    q.normal(loc, 1.0, name="z")
    found = predict_site(q["z"])
    assert found.value.tolist() == [[1.0], [2.0]]
    assert found.confidence.tolist() == [1.0, 1.0]
    assert not found.value.requires_grad


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_the_first_of_several_draws_counts(samples: int) -> None:
    values: Tensor = torch.arange(samples * 2 * 3.0).reshape(samples, 2, 3)
    assert torch.equal(first_draw(values, 1), values[0])
    assert torch.equal(first_draw(values[0], 1), values[0])


def test_labels_take_the_place_of_predictions_and_always_count() -> None:
    q = Trace()
    q.categorical(logits=LOGITS, value=partial(torch.tensor([2, -1])), name="y")
    value, counts = label_or_prediction(q["y"], predict_site(q["y"]), threshold=1.0)
    assert value.tolist() == [2, 0]
    assert counts.tolist() == [True, False]
