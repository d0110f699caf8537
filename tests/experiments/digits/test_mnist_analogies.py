"""mnist-analogies: the style of one image in every digit."""

from __future__ import annotations

from experiments.digits.mnist_analogies import EXPERIMENT


def test_it_draws_analogies_of_its_own_data() -> None:
    ours = EXPERIMENT.cases("quick")[0]
    assert ours["picture"] == "analogies"
    assert ours["data"] == "mnist"
    assert EXPERIMENT.name == "mnist-analogies"


def test_the_rows_of_the_ablation_differ_in_nothing_but_what_they_name() -> None:
    rows = {case["row"]: case for case in EXPERIMENT.cases("quick") if "reader" in case}
    ours, twin = rows.pop("Unknot, M = 100"), rows.pop("the bound alone, networks and steps as ours")
    for what, share in (("the digit alone", 0.0), ("digit and style", 1.0)):
        other = rows.pop(f"swapped items teach the generator {what}")
        assert other["train"] == ours["train"]
        assert other["model"] == {**ours["model"], "swap_teaches": share}
    assert ours["model"]["swap"] > 0
    assert ours["model"]["nodes"]["style"]["whiten"] == "digit"
    assert ours["train"] == twin["train"]
    assert ours["model"]["nodes"]["x"] == twin["model"]["nodes"]["x"]
    bound = rows["the bound alone"]
    for case in rows.values():
        assert case["model"]["nodes"]["x"] == bound["model"]["nodes"]["x"]
        assert case["train"]["steps"] == bound["train"]["steps"]
