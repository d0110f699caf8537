"""svhn-analogies: the rows, and what they differ in."""

from __future__ import annotations

from experiments.digits.svhn_analogies import EXPERIMENT


def test_the_bound_alone_has_the_same_networks_and_neither_whitening_nor_regularizers_of_the_style() -> None:
    rows = {case["row"]: case for case in EXPERIMENT.cases("quick")}
    ours, bound = rows["Unknot, M = 1000"], rows["the bound alone, networks and steps as ours"]
    assert ours["colors"]
    assert ours["model"]["nodes"]["x"] == bound["model"]["nodes"]["x"]
    whitened, plain = (dict(case["model"]["nodes"]["style"]["encoder"]) for case in (ours, bound))
    assert whitened.pop("whiten") == "digit"
    assert whitened == plain
    names = [set(case["train"]["objective"]["regularizers"]) for case in (ours, bound)]
    assert names == [{"agreement", "swap", "independence"}, {"agreement"}]


def test_s17_s_model_is_drawn_with_some_and_with_all_labels() -> None:
    rows = {case["row"]: case for case in EXPERIMENT.cases("quick")}
    assert (rows["S17's model"]["labels"], rows["S17's model, all labels"]["labels"]) == (1000, "all")
    assert rows["S17's model"]["model"] == rows["S17's model, all labels"]["model"]
