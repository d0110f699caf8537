"""What changing a factor does, asked of an estimator in the user's words."""

from __future__ import annotations

import numpy as np
import pytest

from tests.estimator.small import CLASSES, IMAGES
from unknot import StructuredVAE
from unknot.errors import DataError, SpecError


def test_counterfactuals_of_images(fitted: StructuredVAE) -> None:
    found = fitted.counterfactuals(IMAGES[1000:1300], digit=CLASSES[1000:1300])["digit"]
    assert (found.items, found.labels, found.settings) == (150, 150, 10)
    assert found.encoder.real is not None
    assert found.encoder.real > 0.6
    assert found.verdict.startswith("digit ")
    assert str(found).startswith(found.verdict)
    bare = fitted.counterfactuals(IMAGES[1000:1020])["digit"]
    assert (bare.items, bare.predictor) == (20, None)


def test_counterfactuals_of_a_table_in_the_users_words() -> None:
    rng = np.random.default_rng(0)
    kind = np.where(rng.random(200) < 0.5, "ill", "well")
    size = np.where(kind == "ill", 3.0, -3.0) + rng.normal(size=200)
    rows = np.stack([size, rng.normal(size=200)], 1)
    vae = StructuredVAE(steps=100, verbose=False).fit(rows[:80], kind=kind[:80])
    found = vae.counterfactuals(rows[80:], kind[80:])["kind"]
    assert found.predictor is not None
    for judge in (found.encoder, found.predictor):
        assert judge.real is not None
        assert min(judge.share, judge.real) > 0.9
    with pytest.raises(DataError, match="got healthy, expected one of the classes ill, well"):
        vae.counterfactuals(rows[:2], ["healthy", "ill"])
    with pytest.raises(SpecError, match="fitted with labels of kind"):
        vae.counterfactuals(rows[:2], sort=["ill", "ill"])
