"""svhn-style-grid: two dimensions of style, drawn as a grid for every digit."""

from __future__ import annotations

from experiments.digits.svhn_style_grid import EXPERIMENT


def test_it_draws_a_grid_of_two_dimensions() -> None:
    ours = EXPERIMENT.cases("quick")[0]
    assert ours["picture"] == "style-grid"
    assert ours["data"] == "svhn"
    assert ours["model"]["style"] == 2
