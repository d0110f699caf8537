"""Scores of an encoder against counting by hand, and predictions in users' own names."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.workflow.models import like
from unknot import StructuredVAE
from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.models import node
from unknot.models.families import FAMILIES
from unknot.workflow.evaluation import MEASURES, class_probabilities, log_evidence, predict_dataset, scores
from unknot.workflow.trained_model import TrainedModel

NODES = [
    node("kind", "concrete", 3, inferred_from=["x"], labels=True),
    node("light", "direction", 3, inferred_from=["x"], labels=True),
    node("size", "normal", 1, inferred_from=["x", "kind"], labels=True),
    node("odd", "bernoulli", 1, inferred_from=["x"], labels=True),
    node("x", "normal", parents=["kind", "light", "size", "odd"]),
]
RNG = np.random.default_rng(0)
COUNT = 1200  # more than one chunk


@pytest.fixture(scope="module")
def data():
    light = RNG.normal(size=(COUNT, 3))
    labels = {
        "kind": [("a", "b", "c")[k] if k < 3 else None for k in RNG.integers(0, 4, COUNT)],
        "light": light / np.linalg.norm(light, axis=1, keepdims=True),
        "size": np.where(RNG.random(COUNT) < 0.5, np.nan, RNG.normal(size=COUNT)),
        "odd": RNG.random(COUNT) < 0.5,
    }
    return from_arrays(RNG.normal(size=(COUNT, 5)), labels)


@pytest.fixture(scope="module")
def model(data) -> TrainedModel:
    torch.manual_seed(0)
    return like(NODES, data)


def test_scores_are_what_counting_gives(model, data) -> None:
    answers = predict_dataset(model, data)
    whole = model.predict(data.batch(range(COUNT)).x).predictions
    for name, summary in answers.predictions.items():
        np.testing.assert_allclose(summary, whole[name], rtol=1e-4, atol=1e-5)
    found = {score.factor: score for score in scores(model, data, answers)}
    kind, known = data.factors["kind"].values.numpy(), data.factors["kind"].known.numpy()
    wrong = (answers.predictions["kind"].argmax(-1) != kind)[known]
    assert found["kind"].value == pytest.approx(wrong.mean())
    assert found["kind"].items == known.sum()
    assert found["light"].measure == "mean angle (degrees)"
    assert found["size"].items == int(data.factors["size"].known.sum())
    odd = data.factors["odd"].values.numpy()
    assert found["odd"].value == pytest.approx(((answers.predictions["odd"][:, 0] > 0.5) != odd).mean())


def test_factors_without_labels_have_no_score(model, data) -> None:
    bare = from_arrays(data.x, {"kind": np.full(COUNT, -1)}, classes={"kind": "abc"})
    assert scores(model, bare, predict_dataset(model, bare)) == []


# ---- The table of measures: each against counting by hand, and how numbers are written -------------------


def test_probabilities_of_yes_and_no() -> None:
    np.testing.assert_allclose(class_probabilities(np.array([[0.25], [1.0]])), [[0.75, 0.25], [0, 1]])
    same = np.array([[0.2, 0.8]])
    assert class_probabilities(same) is same


def test_each_measure_is_what_counting_gives() -> None:
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    assert MEASURES["error"].of(np.array([0, 0, -1]), shares) == 0.5
    assert MEASURES["root mean square error"].of(np.array([1.0, np.nan]), np.array([[3.0], [9.0]])) == 2.0
    lights = np.array([[0.0, 0.0, 1.0]])
    assert MEASURES["mean angle (degrees)"].of(lights, np.array([[0.0, 1.0, 0.0]])) == pytest.approx(90)


def test_shares_are_written_in_per_cent_with_their_interval() -> None:
    error = MEASURES["error"]
    assert error.text(0.25, (0.2, 0.3)) == "25.00 % (20.0 to 30.0 %)"
    assert MEASURES["mean angle (degrees)"].text(3.0) == "3"
    assert MEASURES["mean angle (degrees)"].text(3.0, (2.5, 3.25)) == "3 (2.5 to 3.25)"


def test_intervals_hold_the_true_number_as_often_as_they_say() -> None:
    """95 % of 2000 samples of 200 items; a coverage measured so has a standard error of half a per cent."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(2000, 200)) ** 2  # squared errors whose mean is 1
    ends = [MEASURES["root mean square error"].interval(one) for one in samples]
    held = np.mean([low < 1 < high for low, high in ends])
    assert held == pytest.approx(0.95, abs=0.03)  # five standard errors, and half a per cent for the skew
    assert MEASURES["root mean square error"].interval(np.array([1.0])) is None
    low, high = MEASURES["error"].interval(np.zeros(30))
    assert low == 0
    assert high == pytest.approx(0.1135, abs=1e-4)


def test_nothing_known_is_refused() -> None:
    with pytest.raises(SpecError, match="none of the 2 is"):
        MEASURES["error"].of(np.array([-1, -1]), np.ones((2, 3)))


def test_every_family_names_a_measure_of_the_table() -> None:
    for family in FAMILIES.values():
        for kind in ("categorical", "continuous", "count", "binary"):
            assert family.measure_for(kind) in MEASURES


# ---- The bound of each item: below log p(x), close to it with many draws, low for outliers ---------------


def test_more_draws_come_closer_from_below_and_outliers_are_low() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    vae = StructuredVAE("class_style", steps=60, style=2, learning_rate=1e-2, verbose=False).fit(
        x, side=(x[:, 0] > 0).astype(int)
    )
    rows = torch.from_numpy(np.concatenate([x[:50], x[:50] + 9])).float()
    before = torch.get_rng_state()
    few, many = log_evidence(vae.trained_, rows, 2), log_evidence(vae.trained_, rows, 200)
    assert torch.equal(before, torch.get_rng_state())
    assert many.shape == (100,)
    assert few[:50].mean() < many[:50].mean()  # E log of a mean grows with its terms (Burda et al. 2016)
    assert many[:50].min() > many[50:].max()
    far = log_evidence(vae.trained_, 1e30 * rows[:3], 2)
    assert (far < many.min()).all()  # and not NaN, though it overflows
    torch.testing.assert_close(many, log_evidence(vae.trained_, rows, 200))  # the same seed


def test_cross_fitted_losses_count_as_fewer_items() -> None:
    """Against the corrected variance (1/K + n_test/n_train) of K fold errors, written out (Nadeau and Bengio 2003)."""
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=60)
    for folds in (2, 3, 5):
        fold_variance = losses.var(ddof=1) / (60 / folds)
        reach = 1.96 * ((1 / folds + (60 / folds) / (60 - 60 / folds)) * fold_variance) ** 0.5
        low, high = MEASURES["mean angle (degrees)"].interval(losses, folds)
        assert (low, high) == pytest.approx((losses.mean() - reach, losses.mean() + reach))
