"""StructuredVAE: it learns, answers in named columns, makes new items, and has scikit-learn's habits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from tests.estimator.small import CLASSES, COUNT, DIGITS, IMAGES, class_and_style, half_known, small
from unknot import StructuredVAE, node
from unknot.errors import DataError, SpecError


def test_it_learns_to_recognise_digits(fitted: StructuredVAE) -> None:
    # 150 steps reach about nine of ten; a guess would be one of ten
    assert fitted.score(IMAGES[1000:], digit=CLASSES[1000:]) > 0.75
    guess = fitted.predict(IMAGES[:7])
    assert guess.shape == (7,)
    assert np.issubdtype(guess.dtype, np.integer)
    shares = fitted.predict_proba(IMAGES[:7])
    assert shares.shape == (7, 10)
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(shares.argmax(1), guess)


def test_transform_gives_named_columns(fitted: StructuredVAE) -> None:
    codes = fitted.transform(IMAGES[:5])
    names = fitted.get_feature_names_out()
    assert codes.shape == (5, 13) == (5, len(names))
    assert list(names[[0, 10]]) == ["digit[0]", "style[0]"]
    np.testing.assert_allclose(codes[:, :10], fitted.predict_proba(IMAGES[:5]), rtol=1e-5)
    np.testing.assert_array_equal(codes, fitted.transform(IMAGES[:5]))  # nothing is drawn


def test_samples_obey_what_is_given(fitted: StructuredVAE) -> None:
    sampled = fitted.sample(40, {"digit": 0})
    assert sampled.shape == (40, 1, 8, 8)
    assert (fitted.predict((255 * sampled).astype(np.uint8)) == 0).mean() > 0.75
    each = fitted.sample(3, {"digit": [1, 2, 3], "style": np.zeros(3)})
    one = fitted.sample(3, {"digit": 2, "style": np.zeros((3, 3))})
    np.testing.assert_allclose(each[1], one[0], rtol=1e-5)
    torch.manual_seed(1)
    first = fitted.sample(4)
    torch.manual_seed(1)
    np.testing.assert_array_equal(first, fitted.sample(4))


def test_vary_changes_the_factor_and_keeps_the_rest(fitted: StructuredVAE) -> None:
    varied = fitted.vary(IMAGES[:6], digit=range(10))
    assert varied.shape == (6, 10, 1, 8, 8)
    swept = fitted.vary(IMAGES[:6], style=[np.zeros(3), np.ones(3)])
    assert swept.shape == (6, 2, 1, 8, 8)
    best = fitted.predict(IMAGES[:1])[0]
    same = fitted.trained_.reconstruct(torch.from_numpy(IMAGES[:1, None] / 255).float()).numpy()
    np.testing.assert_allclose(varied[0, best], same[0], rtol=1e-5)


@pytest.mark.parametrize("given", [3, []])
def test_vary_takes_a_list(fitted: StructuredVAE, given: Any) -> None:
    with pytest.raises(SpecError, match=r"vary\(\) takes a list of values"):
        fitted.vary(IMAGES[:2], digit=given)


@pytest.mark.parametrize(
    "asked", [{"digit": 11}, {"digit": "three"}, {"digit": [1, 2]}, {"style": [1.0, 2.0]}]
)
def test_values_that_do_not_fit_are_refused(fitted: StructuredVAE, asked: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"digit|style"):
        fitted.sample(5, asked)
    with pytest.raises(SpecError, match="no factor 'color'"):
        fitted.sample(5, {"color": 1})
    with pytest.raises(SpecError, match="one factor at a time"):
        fitted.vary(IMAGES[:2], digit=[1], style=[np.zeros(3)])


def test_a_seed_makes_it_repeatable_and_leaves_torch_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one = small(seed=3).fit(IMAGES[:COUNT], digit=half_known(CLASSES)).transform(IMAGES[:9])
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(6)
    two = small(seed=3).fit(IMAGES[:COUNT], digit=half_known(CLASSES)).transform(IMAGES[:9])
    np.testing.assert_array_equal(one, two)
    other = small(seed=4).fit(IMAGES[:COUNT], digit=half_known(CLASSES)).transform(IMAGES[:9])
    assert not np.array_equal(one, other)


def test_without_labels_it_is_an_autoencoder() -> None:
    vae = small().fit(IMAGES[:COUNT])
    assert vae.transform(IMAGES[:5]).shape == (5, 3)
    with pytest.raises(SpecError, match="nothing was labeled"):
        vae.predict(IMAGES[:5])


def test_factors_inferred_from_other_latents_are_predicted() -> None:
    nodes = [
        node("style", "normal", 2, inferred_from=["x"]),
        node("digit", "categorical", 10, parents=["style"], inferred_from=["x", "style"], labels=True),
        node("odd", "bernoulli", 1, inferred_from=["digit"], labels=True),
        node("x", "bernoulli", parents=["digit", "style", "odd"]),
    ]
    vae = small(model=nodes, kinds={"odd": "binary"}).fit(
        IMAGES[:COUNT], digit=half_known(CLASSES), odd=half_known(CLASSES % 2)
    )
    assert vae.predict(IMAGES[:5], "digit").shape == (5,)
    shares = vae.predict_proba(IMAGES[:5], "odd")
    assert shares.shape == (5, 2)
    np.testing.assert_array_equal(vae.predict(IMAGES[:5], "odd"), shares[:, 1] > 0.5)


def test_parameters_and_clones() -> None:
    vae = StructuredVAE(
        class_and_style(), steps=7, learning_rate={"name": "cosine", "start": 1e-3}, columns=["real"]
    )
    twin = clone(vae)
    assert twin.get_params().keys() == vae.get_params().keys()
    assert (twin.steps, twin.learning_rate, twin.columns) == (7, vae.learning_rate, ["real"])
    assert twin.set_params(steps=9).steps == 9
    assert vae.steps == 7
    assert "steps=7" in repr(vae)


def test_it_works_in_a_pipeline() -> None:
    pipeline = Pipeline([("scale", MinMaxScaler()), ("vae", small(steps=60))])
    pipeline.fit(DIGITS.data[:COUNT], half_known(CLASSES))
    assert pipeline.predict(DIGITS.data[:5]).shape == (5,)
    assert pipeline.score(DIGITS.data[:COUNT], CLASSES[:COUNT]) > 0.3
    assert pipeline[-1].classes_.keys() == {"label"}
    assert len(pipeline.get_feature_names_out()) == pipeline.transform(DIGITS.data[:5]).shape[1] == 13
    assert clone(pipeline)[-1].steps == 60


def test_factors_may_be_called_as_anything() -> None:
    x, classes = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    vae = StructuredVAE(steps=2, verbose=False, verdict=False).fit(
        x, mean=classes, style=classes, seed=x[:, 0]
    )
    assert vae.sample(3, {"mean": 1, "style": 0, "seed": 0.5}, mean=True).shape == (3, 4)
    assert vae.vary(x[:2], mean=[0, 1]).shape == (2, 2, 4)
