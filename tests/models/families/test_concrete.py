"""One of K classes, relaxed or enumerated: scores of labels and draws, predictions, and what networks see."""

from __future__ import annotations

import torch
from torch.distributions import Categorical

import unknot
from unknot.models import node
from unknot.models.families.concrete import ArgmaxConcreteFamily, CategoricalFamily, ConcreteFamily

TEMPERATURE = torch.tensor(0.5)


def make(size: int = 4) -> ConcreteFamily:
    return ConcreteFamily(node("y", "concrete", size, inferred_from=["x"]))


def test_labels_are_scored_by_their_mass() -> None:
    outputs, classes = torch.randn(5, 4), torch.tensor([0, 3, 2, 1, 1])
    q = unknot.Trace()
    make().recognize(q, outputs, unknot.partial(classes), TEMPERATURE)
    torch.testing.assert_close(q["y"].log_prob, Categorical(logits=outputs).log_prob(classes))


def test_draws_are_soft_and_the_best_class_is_whole() -> None:
    outputs = torch.randn(5, 4)
    value = make().recognize(unknot.Trace(), outputs, None, TEMPERATURE)
    torch.testing.assert_close(value.sum(-1), torch.ones(5))
    assert ((value > 0) & (value < 1)).any()


def test_networks_see_classes_standardized() -> None:
    seen = make().features(torch.eye(4))  # the prior's four values, equally likely
    torch.testing.assert_close(seen.mean(0), torch.zeros(4))
    torch.testing.assert_close(seen.var(0, correction=0), torch.ones(4))
    torch.testing.assert_close(make().from_features(seen), torch.eye(4))


def test_a_prediction_is_the_best_class_and_its_probability() -> None:
    outputs = torch.tensor([[0.0, 2.0, 0.0, 0.0]])
    q = unknot.Trace()
    make().recognize(q, outputs, None, TEMPERATURE)
    prediction = make().prediction(q["y"].dist)
    assert prediction.value.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    torch.testing.assert_close(prediction.confidence, outputs.softmax(-1)[:, 1])


def test_it_is_set_to_every_class() -> None:
    settings = ConcreteFamily.settings(3)
    assert (settings.values.tolist(), settings.names) == ([0, 1, 2], ("0", "1", "2"))


# ---- categorical: enumerated, unless another gradient is named


def test_classes_are_enumerated() -> None:
    outputs = torch.randn(5, 3)
    q = unknot.Trace()
    value = CategoricalFamily(node("y", "categorical", 3, inferred_from=["x"])).recognize(
        q, outputs, None, TEMPERATURE
    )
    assert value.shape == (
        3,
        1,
        1,
        3,
    )  # an axis of its own, those of draws and of items, which share it, one-hot
    for k in range(3):
        assert value[k, 0].argmax(-1).tolist() == [k]
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


# ---- argmax_concrete: by name, never a default


def test_the_argmax_family_draws_softly_scores_a_class_and_is_no_default() -> None:
    outputs = torch.randn(5, 3)
    q = unknot.Trace()
    value = ArgmaxConcreteFamily(node("y", "argmax_concrete", 3, inferred_from=["x"])).recognize(
        q, outputs, None, TEMPERATURE
    )
    expected = Categorical(logits=outputs).log_prob(value.argmax(-1))
    torch.testing.assert_close(q["y"].log_prob, expected)
    assert ArgmaxConcreteFamily.suits == ()
