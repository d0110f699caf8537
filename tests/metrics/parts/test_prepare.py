"""Preparing: the protocol's rows and words."""

import numpy as np

from unknot.metrics.parts.columns import prepare


def test_rows_constants_and_words() -> None:
    codes, factors = np.random.default_rng(0).normal(size=(12_000, 2)), np.arange(12_000) % 3
    given = prepare("mig", codes, factors, None, None, 0, None)
    assert len(given.codes) == len(given.factors) == 10_000
    assert given.settings.bins == 20
    assert given.said == {"score": "mig", "protocol": "locatello2019"}
