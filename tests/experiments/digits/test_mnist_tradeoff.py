"""The two sweeps of mnist-tradeoff: one price for both, and a fixed one with a rising other."""

from __future__ import annotations

from experiments.digits.mnist_tradeoff import EQUAL_ROW, GAMMA, GAP_ROW, cases


def test_the_first_sweep_has_one_price_and_the_second_a_fixed_one():
    for case in cases("quick"):
        objective = case["train"]["objective"]
        assert case["column"] == f"β = {objective['beta']:g}"
        assert objective["gamma"] == (objective["beta"] if case["row"] == EQUAL_ROW else GAMMA)
        assert ("information" in objective) == (case["row"] == GAP_ROW)
