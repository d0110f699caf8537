"""Picture experiments: what is trained in each tier, and the grid's numbers."""

from __future__ import annotations

import numpy as np

from experiments.digits.digit_pictures import ALONE, Look, image_panels

LOOK = Look(
    data="mnist",
    labels=100,
    model={"style": 2},
    train={
        "steps": 50,
        "batch_size": 100,
        "labeled_share": 0.25,
        "objective": {"name": "semi_supervised", "alpha": 9.0},
    },
    classifier={"model": {}, "train": {"steps": 9, "batch_size": 10}},
    picture="style-grid",
    more_rows={"another": {"model": {"style": 3}, "train": {"steps": 40, "batch_size": 100}}},
    goals={"read": 99.0},
)


def test_a_smoke_run_is_a_few_steps_on_the_embedded_digits() -> None:
    ours, another, alone = LOOK.cases("smoke")
    assert (ours["data"], ours["train"]["steps"], ours["classifier"]["train"]["steps"]) == ("digits", 3, 3)
    assert (ours["row"], another["row"], another["model"]) == ("Unknot, M = 100", "another", {"style": 3})
    assert alone["row"] == ALONE
    assert "classifier" not in alone
    assert LOOK.cases("quick")[0]["train"]["steps"] == 50


def test_its_own_row_is_judged_by_the_goals() -> None:
    one = LOOK.experiment("n", "p", "a", "q")
    assert one.judged == {"Unknot, M = 100": "goal"}
    assert [(y.measure, y.value("")) for y in one.yardsticks] == [("read", (99.0, None))]


def test_a_grid_has_a_number_of_its_own() -> None:
    keys = [m.key for m in LOOK.experiment("n", "p", "a", "q").measures]
    assert keys[:2] == ["read", "grid_read"]


# ---- Several grids in one figure, labeled at the outside -------------------------------------------------


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
