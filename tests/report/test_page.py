"""The page: sections in order, whole or not at all."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from unknot.plots.classification import confusion
from unknot.report.answer import Answer
from unknot.report.content import Content
from unknot.report.gallery import Picture
from unknot.report.page import picture_figure, render, write_report
from unknot.report.section import Section, TextTable, three_digits
from unknot.report.term_names import term_name
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.finding import Finding
from unknot.workflow.verdict.unseen import Unseen
from unknot.workflow.verdict.verdict import Verdict

UNSEEN = Unseen("digit", MEASURES["error"], ("0", "1"), np.arange(2), np.arange(2), np.eye(2))
CONTENT = Content(
    title="a <run>",
    summary="Learned.",
    facts={"data": "digits", "date": "2026-01-02"},
    graph_svg="<svg></svg>",
    answers=[
        Answer("digit", "It is right in 74 of 100.", "It is unsure about <b>.", "Measured on 300 labels.")
    ],
    numbers=[Section("Numbers", "All.", table=TextTable(("factor", "value"), (("digit", "26 %"),)))],
    data=[Section("Classes of digit", "Labels.", table=TextTable(("digit", "labels"), (("<3>", "5"),)))],
    doubts=[Section("Confusion: digit", "Rows.", confusion(np.eye(2, dtype=int), ("0", "1"), "digit"))],
    changes=[Section("Setting digit", "Set.", table=TextTable(("number", "value"), (("moves", "0"),)))],
    model=[Section("Missing values", "How.", table=TextTable(("column", "model"), (("age", "3 <years>"),)))],
    pictures=[
        Picture("Reconstructions", "c", np.zeros((2, 3, 1, 4, 4))),
        Picture("Analogies: digit", "c", np.zeros((2, 3, 1, 4, 4)), about_change=True),
    ],
    records=[{"step": 1, "log_term[ridge]": 2.0}, {"step": 2, "log_term[ridge]": 1.0}],
    information=[("style[0]", 1.5), ("style[1]", 0.0)],
    verdict=Verdict((Finding("below linear", "It is <worse>.", "red"),), (), "", (UNSEEN,)),
    config="a: <b>",
)


def test_the_answer_comes_first_then_data_doubts_changes_and_the_model() -> None:
    page = render(CONTENT)
    order = [
        "It is right in 74 of 100.", "It is &lt;worse&gt;.", "Numbers", "The data", "2026-01-02", "Classes of digit",
        "Mistakes and doubts", "Confusion: digit", "What predictions rest on, and what changes with each factor",
        "Analogies: digit", "Setting digit",
        "<details>", "The model and its training", "The graphical model", "Reconstructions", "Missing values",
        "Information per dimension", "Training curves", "a: &lt;b&gt;", "</details>",
    ]  # fmt: skip
    places = [page.index(text) for text in order]
    assert places == sorted(places)


def test_names_are_escaped() -> None:
    page = render(CONTENT)
    assert "a &lt;run&gt;" in page
    assert "unsure about &lt;b&gt;" in page
    assert '<td data-column="digit">&lt;3&gt;</td>' in page
    assert "3 &lt;years&gt;" in page
    hostile = TextTable(('"><script>alert(1)</script>',), (("x",),))  # a header is an attribute too
    page = render(replace(CONTENT, data=[Section("t", "c", table=hostile)]))
    assert "<script" not in page
    assert 'data-column="&#34;&gt;' in page


def test_figures_and_tables_are_numbered_from_the_top() -> None:
    page = render(CONTENT)
    figures = [int(number) for number in re.findall(r"<b>Figure (\d+)\. </b>", page)]
    tables = [int(number) for number in re.findall(r"<b>Table (\d+)\. </b>", page)]
    assert figures == list(range(1, 7))
    assert tables == list(range(1, 5))


def test_the_color_is_that_of_the_verdict() -> None:
    assert 'class="verdict red"' in render(CONTENT)
    good = render(replace(CONTENT, verdict=Verdict((), ("the curve",), "", (UNSEEN,))))
    assert "Nothing stands out. Examined: the curve." in good
    assert 'class="verdict green"' in good
    unknown = render(replace(CONTENT, answers=[], verdict=Verdict((), ("the curve",), "No error is shown.")))
    assert 'class="verdict gray"' in unknown
    assert "No error is shown." in unknown
    assert "There are no labels" not in unknown
    bare = render(replace(CONTENT, answers=[], verdict=Verdict((), ())))
    assert "There are no labels" in bare


def test_several_factors_have_their_names_above_their_answers() -> None:
    assert '<p class="factor">' not in render(CONTENT)
    two = replace(
        CONTENT, answers=[*CONTENT.answers, Answer("light & shade", "It is off by 3.", "", "On 5.")]
    )
    assert '<p class="factor">light &amp; shade</p>' in render(two)


def test_terms_have_names_that_need_no_source_code() -> None:
    assert "log_term" not in render(CONTENT)
    assert [
        term_name(name) for name in ("kl[digit]", "log_term[agreement_y]", "log_term[mine]", "other")
    ] == [
        "-KL divergence of digit",
        "agreement of two views: y",
        "term mine",
        "other",
    ]


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
