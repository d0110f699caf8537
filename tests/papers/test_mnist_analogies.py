"""mnist-analogies: the style of one image in every digit."""

from __future__ import annotations

from unknot.papers.mnist_analogies import EXPERIMENT


def test_it_draws_analogies_of_its_own_data() -> None:
    ours = EXPERIMENT.cases("quick")[0]
    assert ours["picture"] == "analogies"
    assert ours["data"] == "mnist"
    assert EXPERIMENT.name == "mnist-analogies"


def test_the_rows_of_the_ablation_differ_in_nothing_but_what_they_name() -> None:
    rows = {case["row"]: case for case in EXPERIMENT.cases("quick") if "reader" in case}
    ours, bound = rows["Unknot, M = 100"], rows["the bound alone"]
    assert (ours["model"]["swap"], ours["model"]["nodes"]["style"]["whiten"]) == (1.0, "digit")
    for case in rows.values():
        assert case["model"]["nodes"]["x"] == bound["model"]["nodes"]["x"]
        assert case["train"]["steps"] == bound["train"]["steps"]
