"""A fitted estimator: what it says before it has learned, which items it takes, and how it speaks of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import unknot
from tests.estimator.small import CLASSES, COUNT, DIGITS, IMAGES, half_known, small
from unknot.errors import DataError, SpecError


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
    with pytest.raises(SpecError, match="say which factor: one of digit, odd"):
        vae.predict(IMAGES[:2])
