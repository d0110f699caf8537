"""A fitted estimator: what it says before it has learned, which items it takes, and how it speaks of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

import unknot
from tests.estimator.small import CLASSES, COUNT, DIGITS, IMAGES, half_known, small
from unknot import StructuredVAE
from unknot.errors import DataError, SpecError
from unknot.estimator.fitted import with_known_labels


@pytest.mark.parametrize("ask", ["predict", "transform", "predict_proba", "get_feature_names_out"])
def test_an_unfitted_model_says_so(ask: str) -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        getattr(small(), ask)(IMAGES[:2])
    with pytest.raises(unknot.UnknotError, match="not fitted"):
        small().sample(3)


def test_it_takes_items_of_the_kind_that_was_fitted() -> None:
    shares = DIGITS.data[:COUNT] / 16
    vae = small().fit(shares, digit=half_known(CLASSES))
    with pytest.raises(DataError, match="fitted on values from 0 to 1"):
        vae.predict(DIGITS.data[:4])
    with pytest.raises(DataError, match="X has 63 features, but expecting 64"):
        vae.predict(shares[:4, 1:])
    with pytest.raises(DataError, match="x has gaps or words"):
        vae.predict(np.where(shares[:4] > 0.9, np.nan, shares[:4]))
    with pytest.raises(DataError, match="x holds texts"):
        vae.predict(["a moon"])


def test_factors_go_by_name_where_there_are_several() -> None:
    vae = small().fit(IMAGES[:COUNT], digit=half_known(CLASSES), odd=half_known(CLASSES % 2))
    assert list(vae.classes_) == ["digit", "odd"]
    with pytest.raises(SpecError, match="choose a factor, one of digit, odd"):
        vae.predict(IMAGES[:2])


# ---- A second fit goes on from the first: weights, classes and columns stay ------------------------------


def test_a_second_fit_starts_at_the_weights_of_the_first() -> None:
    vae = small(warm_start=True, steps=20).fit(IMAGES[:COUNT], digit=CLASSES[:COUNT])
    before = {name: w.clone() for name, w in vae.trained_.module.state_dict().items()}
    vae.set_params(steps=1, learning_rate=1e-12).fit(IMAGES[:COUNT], digit=CLASSES[:COUNT])
    for name, weight in vae.trained_.module.named_parameters():
        torch.testing.assert_close(weight.detach(), before[name], rtol=0, atol=1e-6)
    cold = small(steps=1, learning_rate=1e-12).fit(IMAGES[:COUNT], digit=CLASSES[:COUNT])
    assert not all(torch.equal(w, before[n]) for n, w in cold.trained_.module.state_dict().items())


def test_more_steps_and_more_labels_teach_it_more() -> None:
    few = half_known(CLASSES)
    few[20:] = -1
    vae = small(warm_start=True, steps=30).fit(IMAGES[:COUNT], digit=few)
    first = vae.score(IMAGES[1000:], digit=CLASSES[1000:])
    vae.set_params(steps=60).fit(IMAGES[:COUNT], digit=CLASSES[:COUNT])
    assert vae.score(IMAGES[1000:], digit=CLASSES[1000:]) > first + 0.05


def test_classes_stay_those_of_the_first_fit() -> None:
    tens = 10 * CLASSES
    vae = small(warm_start=True).fit(IMAGES[:COUNT], digit=tens[:COUNT])
    some = np.nonzero(CLASSES >= 5)[0][:100]
    vae.fit(IMAGES[some], digit=tens[some])
    assert vae.classes_["digit"] == [10 * k for k in range(10)]
    assert vae.predict_proba(IMAGES[:3]).shape == (3, 10)
    with pytest.raises(DataError, match="expected one of the classes 0, 10"):
        vae.fit(IMAGES[:9], digit=CLASSES[:9])
    with pytest.raises(SpecError, match="fitted with labels of digit"):
        vae.fit(IMAGES[:9], color=CLASSES[:9])
    with pytest.raises(DataError, match="the model was fitted on"):
        vae.fit(IMAGES[:9, :4], digit=tens[:9])


def test_without_it_every_fit_is_a_new_one() -> None:
    vae = small().fit(IMAGES[:COUNT], digit=CLASSES[:COUNT])
    assert vae.fit(IMAGES[:COUNT], parity=CLASSES[:COUNT] % 2).classes_.keys() == {"parity"}


def test_a_ensemble_says_that_it_cannot_go_on() -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    vae = StructuredVAE(steps=2, warm_start=True, verbose=False).fit(x, kind=np.arange(40) % 2)
    with pytest.raises(SpecError, match="an ensemble takes the scales of its columns"):
        vae.fit(x, kind=np.arange(40) % 2)


def test_labels_in_a_models_own_classes(fitted: StructuredVAE) -> None:
    data = with_known_labels(fitted._items(IMAGES[:3]), {"digit": [7, None, 0]}, fitted.trained_)
    assert data.factor("digit").values.tolist() == [7, -1, 0]
    assert data.factor("digit").num_classes == 10
