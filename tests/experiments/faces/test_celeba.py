"""Effects of dimensions on attributes, against pairs counted one by one."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.faces.celeba import NAMED, _effect_numbers, effects


def test_an_effect_is_the_share_of_pairs_in_order_less_that_of_pairs_that_are_not():
    rng = np.random.default_rng(0)
    codes, has = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    found = effects(codes, {"hat": has})
    for d in range(2):
        signs = [np.sign(a - b) for a in codes[has == 1, d] for b in codes[has == 0, d]]
        assert found[d, 0] == pytest.approx(np.mean(signs))


def test_a_dimension_that_is_the_attribute_leads_with_one():
    rng = np.random.default_rng(1)
    attributes = {name: rng.integers(0, 2, 500) for name in NAMED.values()}
    codes = np.stack([*attributes.values(), rng.normal(size=500)], 1).astype(float)
    found = _effect_numbers(codes, attributes)
    assert all(found[key] == pytest.approx(1.0) for key in NAMED)
    assert found["attributes"] == pytest.approx(1.0)
    assert found["gap"] > 0.7
