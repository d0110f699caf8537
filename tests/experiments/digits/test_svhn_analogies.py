"""svhn-analogies and svhn-style-grid: the rows, and what they differ in."""

from __future__ import annotations

from experiments.digits.svhn_analogies import ANALOGIES, STYLE_GRID


def test_the_bound_alone_has_the_same_networks_and_neither_whitening_nor_regularizers_of_the_style() -> None:
    rows = {case["row"]: case for case in ANALOGIES.cases("quick")}
    ours, bound = rows["Unknot, M = 1000"], rows["the bound alone, networks and steps as ours"]
    assert ours["colors"]
    assert ours["model"]["nodes"]["x"] == bound["model"]["nodes"]["x"]
    whitened, plain = (dict(case["model"]["nodes"]["style"]["encoder"]) for case in (ours, bound))
    assert whitened.pop("whiten") == "digit"
    assert whitened == plain
    names = [set(case["train"]["objective"]["regularizers"]) for case in (ours, bound)]
    assert names == [{"agreement", "swap", "independence"}, {"agreement"}]


def test_the_style_grid_has_two_dimensions() -> None:
    ours = STYLE_GRID.cases("quick")[0]
    assert (ours["picture"], ours["data"], ours["model"]["style"]) == ("style-grid", "svhn", 2)
