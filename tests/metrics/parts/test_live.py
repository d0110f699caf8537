"""Live codes: by spread, by number of categories."""

import numpy as np

from unknot.metrics.parts.columns import read_columns
from unknot.metrics.parts.live import live_codes


def test_live_codes() -> None:
    rng = np.random.default_rng(0)
    codes = {
        "a": rng.normal(size=100),
        "b": 0.01 * rng.normal(size=100),
        "c": np.arange(100) % 2,
        "d": np.zeros(100, int),
    }
    read = read_columns(codes, None, "codes")
    assert live_codes(read, 0.05).tolist() == [True, False, True, False]
    assert live_codes(read, 0.0).all()
