"""The section about calibration: its number, and no section for a handful of items."""

from __future__ import annotations

from tests.report.tables import DATA, answers, model
from unknot.report.calibration import calibration


def test_the_caption_tells_the_calibration_error() -> None:
    (section,) = calibration(model(), DATA, answers({}))  # always right, 0.9 sure
    assert section.title == "Calibration: kind"
    assert "Expected calibration error: 10.0 %" in section.caption
    assert section.figure is not None


def test_a_handful_of_items_says_nothing() -> None:
    few = DATA.subset(range(10))
    said = answers({})
    said.predictions["kind"] = said.predictions["kind"][:10]
    assert calibration(model(), few, said) == []
