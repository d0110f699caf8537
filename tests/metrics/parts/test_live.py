"""Live codes: by spread, that of categories too."""

import numpy as np

from unknot.metrics.parts.columns import live_codes, read_columns


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


def test_a_category_that_all_but_one_item_share_is_dead() -> None:
    one, some = np.zeros(1000, int), np.zeros(1000, int)
    one[0] = some[:20] = 1
    read = read_columns({"one": one, "some": some}, None, "codes")
    assert live_codes(read, 0.05).tolist() == [False, True]
    # by hand: two shares, 1 - p² - (1 - p)² = 2 p (1 - p)
    assert live_codes(read, np.sqrt(2 * 0.02 * 0.98) - 1e-9).tolist() == [False, True]
    assert not live_codes(read, np.sqrt(2 * 0.02 * 0.98) + 1e-9).any()
