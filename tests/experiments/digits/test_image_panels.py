"""Several grids in one figure, labeled at the outside."""

from __future__ import annotations

import numpy as np

from experiments.digits.image_panels import image_panels


def test_panels_have_their_titles_and_outer_labels() -> None:
    panels = np.random.default_rng(0).random((5, 2, 3, 1, 4, 4))
    figure = image_panels(
        panels, [f"digit {k}" for k in range(5)], across=3, columns="abc", rows="de", labels=("over", "down")
    )
    assert [axes.get_title() for axes in figure.axes] == [f"digit {k}" for k in range(5)]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "over", "over", "over"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["down", "", "", "down", ""]
    assert [label.get_text() for label in figure.axes[3].get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == []
