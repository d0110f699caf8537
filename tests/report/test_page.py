"""The page: sections in order, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unknot.report.content import Content
from unknot.report.gallery import Picture
from unknot.report.page import picture_figure, render, write_report
from unknot.workflow.evaluation import Score

CONTENT = Content(
    title="a <run>",
    summary="Learned.",
    facts={"data": "digits"},
    graph_svg="<svg></svg>",
    scores=[Score("digit", "error", 0.25, 300, (0.204, 0.302))],
    records=[{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}],
    confusions=[("digit", np.eye(2, dtype=int), ("0", "1"))],
    information=[("style[0]", 1.5), ("style[1]", 0.0)],
)


def test_the_sections_stand_in_order_and_names_are_escaped() -> None:
    page = render(CONTENT)
    places = [page.index(title) for title in ("Confusion: digit", "Information per dimension", "Training")]
    assert places == sorted(places)
    assert "25.00 % (20.4 to 30.2 %)" in page
    assert "a &lt;run&gt;" in page


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    write_report(CONTENT, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "data:image/png;base64," in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script src" not in page


def test_a_picture_is_a_figure_of_its_own() -> None:
    figure = picture_figure(Picture("p", "c", np.zeros((2, 3, 1, 4, 4)), columns=("a", "b", "c")))
    assert figure.get_size_inches()[0] > 0
