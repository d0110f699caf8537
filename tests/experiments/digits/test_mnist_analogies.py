"""mnist-analogies and mnist-style-grid: the rows, and what they differ in."""

from __future__ import annotations

from experiments.digits.mnist_analogies import ANALOGIES, STYLE_GRID


def test_rows_differ_in_what_they_name() -> None:
    rows = {case["row"]: case for case in ANALOGIES.cases("quick")}
    ours, bound = rows["Unknot, M = 100"], rows["the bound alone, networks and steps as ours"]
    assert ours["picture"] == "analogies"
    whitened, plain = (dict(case["model"]["nodes"]["style"]["encoder"]) for case in (ours, bound))
    assert whitened.pop("whiten") == "digit"
    assert whitened == plain
    assert ours["model"]["nodes"]["x"] == bound["model"]["nodes"]["x"]
    regularizers = dict(ours["train"]["objective"]["regularizers"])
    assert {regularizers.pop("swap")["weight"] > 0, regularizers.pop("independence") > 0} == {True}
    assert bound["train"]["objective"]["regularizers"] == regularizers
    assert ours["train"]["steps"] == bound["train"]["steps"]
    assert set(rows["the bound alone"]["train"]["objective"]["regularizers"]) == {"agreement"}


def test_the_style_grid_has_two_dimensions() -> None:
    ours = STYLE_GRID.cases("quick")[0]
    assert (ours["picture"], ours["data"], ours["model"]["style"]) == ("style-grid", "mnist", 2)
