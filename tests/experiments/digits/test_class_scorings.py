"""What the three scorings of a Concrete class have in common, and in what they differ."""

from __future__ import annotations

import pytest

from experiments.digits.class_scorings import SCORINGS, run


def test_values_agree_but_not_the_gradients() -> None:
    found = {row: run({"scoring": row, "draws": 600}, 0, None) for row in SCORINGS}
    density, argmax, exact = found.values()
    assert argmax["divergence"] == pytest.approx(exact["divergence"], abs=0.05)  # 10 standard errors
    assert density["divergence"] > 5 * exact["divergence"]
    assert density["gradient"] > 4 * exact["gradient"]
    assert argmax["gradient"] < 0.3 * exact["gradient"]  # zero, but for noise
