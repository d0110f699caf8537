"""Predicted against true numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.report.tables import DATA, SIZE, answers, model
from unknot.report.predicted import predicted


def test_right_answers_explain_everything_and_the_mean_nothing() -> None:
    (section,) = predicted(model(), DATA, answers({}))
    assert section.title == "Predicted and true: size"
    assert "explains 100 % of the variance (R² = 1.00" in section.caption
    said = answers({})
    said.predictions["size"] = np.full((60, 1), float(SIZE.mean()))
    (section,) = predicted(model(), DATA, said)
    assert (
        "explains 0 % of the variance" in section.caption
        or "explains -0 % of the variance" in section.caption
    )


def test_unknown_numbers_have_no_section() -> None:
    assert predicted(model(), replace(DATA, factors={"kind": DATA.factors["kind"]}), answers({})) == []
