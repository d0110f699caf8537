"""Which tables may be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tables.own_data_draw import choose_target, given_away, learnable
from experiments.tables.own_data_sets import Rows

pd = pytest.importorskip("pandas")


def table() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "rownames": range(200),
            "size": draw.standard_normal(200),
            "kind": np.where(np.arange(200) % 3 == 0, "a", "b"),
            "rare": np.where(np.arange(200) < 2, "x", "y"),
        }
    )


def test_the_last_column_that_can_be_told_is_the_target() -> None:
    assert choose_target(table(), numbers=False) == "kind"  # "rare" has too few of one class
    assert choose_target(table(), numbers=True) == "size"


def test_a_target_given_away_is_seen() -> None:
    data = table()
    assert not given_away(data, "kind")
    data["code"] = np.where(data["kind"] == "a", 7, 8)
    assert given_away(data, "kind")


def test_noise_and_certainty_are_not_drawn() -> None:
    draw = np.random.default_rng(0)
    x, y = draw.standard_normal((1000, 3)), np.arange(1000) % 2
    assert not learnable(Rows(x, y, 2))
    assert not learnable(Rows(np.column_stack([x, 10.0 * y]), y, 2))
    assert learnable(Rows(np.column_stack([x, y + draw.standard_normal(1000)]), y, 2))
