"""fashion-hfvae: its data and its goals."""

from __future__ import annotations

from experiments.digits.fashion_hfvae import EXPERIMENT


def test_it_is_on_its_data_and_judged_by_its_goals() -> None:
    assert {case["data"] for case in EXPERIMENT.cases("quick")} == {"fashion-mnist"}
    assert set(EXPERIMENT.judged.values()) == {"goal, convolutions", "goal, E19's networks"}
