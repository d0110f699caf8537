"""Predictor: members in their order, a round trip that keeps every bit, and models without features."""

from __future__ import annotations

import numpy as np
import torch

from tests.models.features.test_features import items, texts
from tests.models.predictor.test_linear import classes, numbers
from unknot.models.features.words import Words
from unknot.models.predictor.predictor import Inputs, Predictors, fit_predictor, make_predictors
from unknot.models.predictor.targets import deal


def _own(targets, good: float = 0.0) -> torch.Tensor:  # type: ignore[no-untyped-def]
    hot = torch.nn.functional.one_hot(torch.from_numpy(targets.values), targets.outputs)
    return (good * hot).softmax(1).float()


def test_a_useless_model_does_not_hurt_the_linear_one() -> None:
    x, targets = classes(4)
    rows = torch.from_numpy(x)
    made = fit_predictor(Inputs(rows, rows), _own(targets), targets)
    right = made.predictions.argmax(1) == targets.values
    assert right.mean() >= (made.linear.argmax(1) == targets.values).mean() - 0.1
    assert made.predictor(Inputs(rows, rows), _own(targets)).shape == (len(x), 3)


def test_without_features_the_model_is_calibrated_alone() -> None:
    _, targets = classes(4)
    made = fit_predictor(None, _own(targets, 1.0), targets)
    assert (made.predictions.argmax(1) == targets.values).mean() > 0.95
    np.testing.assert_allclose(made.linear.sum(1), 1.0)  # class shares


def test_a_binary_factor_has_one_probability() -> None:
    x, _ = classes(4, 2)
    y = (x[:, 0] > 0).astype(np.int64)
    targets, rows = deal(y, 2), torch.from_numpy(x)
    own = torch.full((len(x), 1), 0.5)
    made = fit_predictor(Inputs(rows, rows), torch.cat([1 - own, own], 1), targets)
    assert made.predictor(Inputs(rows, rows), own).shape == (len(x), 1)


def test_numbers_are_predicted() -> None:
    x, targets = numbers(3)
    rows = torch.from_numpy(x)
    made = fit_predictor(Inputs(rows, rows), torch.zeros(len(x), 2), targets)
    error = np.square(made.predictions - targets.values).mean()
    assert error < 0.5 * np.square(targets.values - targets.values.mean(0)).mean()


def test_a_round_trip_keeps_every_bit_also_of_sparse_features() -> None:
    data = texts()
    features = Words.for_data(data)
    inputs, targets = Inputs.of(features, items(data)), deal(np.arange(len(data)) % 2, 2)
    made = fit_predictor(inputs, _own(targets), targets)
    one = Predictors(features, {"kind": made.predictor})
    again = make_predictors(one.to_dict())
    again.load_state_dict(one.state_dict())
    own = {"kind": _own(targets), "other": torch.zeros(len(data), 2)}
    found = one(items(data), own)
    assert list(found) == ["kind"]
    assert "kind" in again
    assert torch.equal(found["kind"], again(items(data), own)["kind"])


def test_inputs_of_batches_are_joined() -> None:
    data = texts()
    features = Words.for_data(data)
    parts = [Inputs.of(features, data.batch([i, i + 1]).x) for i in range(0, len(data), 2)]
    joined, whole = Inputs.joined(parts), Inputs.of(features, items(data))
    torch.testing.assert_close(joined.features, whole.features)
    torch.testing.assert_close(joined.linear.to_dense(), whole.linear.to_dense())
