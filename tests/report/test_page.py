"""The page: sections in order, whole or not at all."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from unknot.report.content import Content
from unknot.report.gallery import Picture
from unknot.report.page import picture_figure, render, write_report
from unknot.report.section import Section, TextTable, three_digits
from unknot.workflow.evaluation import Score
from unknot.workflow.verdict.verdict import Finding, Verdict

CONTENT = Content(
    title="a <run>",
    summary="Learned.",
    facts={"data": "digits"},
    graph_svg="<svg></svg>",
    scores=[Score("digit", "error", 0.25, 300, (0.204, 0.302))],
    records=[{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}],
    confusions=[("digit", np.eye(2, dtype=int), ("0", "1"))],
    information=[("style[0]", 1.5), ("style[1]", 0.0)],
    verdict=Verdict((Finding("improving", "It was <still> improving."),), ()),
    beside={"digit": "A linear model: 30 %."},
    sections=[
        Section("Missing values", "How.", table=TextTable(("column", "model"), (("age", "3 <years>"),)))
    ],
)


def test_the_sections_stand_in_order_and_names_are_escaped() -> None:
    page = render(CONTENT)
    places = [
        page.index(title)
        for title in ("Confusion: digit", "Missing values", "Information per dimension", "Training")
    ]
    assert places == sorted(places)
    assert re.search(r"25.00 % <small>20.4 to 30.2 %</small>", page)
    assert "A linear model: 30 %." in page
    assert "<td>3 &lt;years&gt;</td>" in page
    assert "a &lt;run&gt;" in page


def test_the_verdict_comes_before_all_numbers() -> None:
    page = render(CONTENT)
    assert page.index("It was &lt;still&gt; improving.") < page.index("25.00 %")
    assert 'class="verdict bad"' in page
    good = render(replace(CONTENT, verdict=Verdict((), ("the curve",))))
    assert "Nothing stands out. Examined: the curve." in good
    assert 'class="verdict"' in good
    unknown = render(replace(CONTENT, scores=[], verdict=Verdict((), ("the curve",), "No error is shown.")))
    assert 'class="verdict unknown"' in unknown  # neither green nor red
    assert "No error is shown." in unknown
    assert "There are no labels" not in unknown
    assert "There are no labels" in render(replace(CONTENT, scores=[]))


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    write_report(CONTENT, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "data:image/png;base64," in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script src" not in page


def test_a_picture_is_a_figure_of_its_own() -> None:
    figure = picture_figure(Picture("p", "c", np.zeros((2, 3, 1, 4, 4)), columns=("a", "b", "c")))
    assert figure.get_size_inches()[0] > 0


def test_a_picture_with_boxes_has_them_on_its_first_row() -> None:
    boxes = np.array([[[0.0, 0.0, 0.5]], [[np.nan] * 3]]), [["a"], [""]]
    figure = picture_figure(
        Picture("p", "c", np.zeros((2, 2, 1, 8, 8)), rows=("item", "part 1"), boxes=boxes)
    )
    assert len(figure.axes[0].patches) == 1
    assert [text.get_text() for text in figure.axes[0].texts] == ["a"]


# ---- Numbers in words ------------------------------------------------------------------------------------


def test_numbers_have_three_digits_and_no_exponent_where_people_write_none() -> None:
    assert [three_digits(v) for v in (999.4, 999.6, 2008.0, -12345.6, 0.5, 0.0)] == [
        "999",
        "1000",
        "2008",
        "-12,346",
        "0.5",
        "0",
    ]


def test_a_section_has_a_figure_or_a_table() -> None:
    section = Section("Title", "How to read it.", table=TextTable(("a",), (("1",),)))
    assert section.figure is None
    assert not section.wide
