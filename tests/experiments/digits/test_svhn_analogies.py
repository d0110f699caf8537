"""svhn-analogies: the style of one image in every digit."""

from __future__ import annotations

from experiments.digits.svhn_analogies import EXPERIMENT


def test_it_draws_analogies_of_its_own_data() -> None:
    ours = EXPERIMENT.cases("quick")[0]
    assert ours["picture"] == "analogies"
    assert ours["data"] == "svhn"
    assert EXPERIMENT.name == "svhn-analogies"


def test_its_twin_is_without_the_means_that_keep_the_digit_out_of_the_style() -> None:
    rows = {case["row"]: case for case in EXPERIMENT.cases("quick")}
    ours, twin = rows["Unknot, M = 1000"], rows["the bound alone, networks and steps as ours"]
    assert ours["train"] == twin["train"]
    assert ours["model"]["nodes"]["x"] == twin["model"]["nodes"]["x"]
    assert ours["model"]["nodes"]["style"] == {**twin["model"]["nodes"]["style"], "whiten": "digit"}
    assert set(ours["model"]) - set(twin["model"]) == {"swap", "swap_teaches", "independence"}
