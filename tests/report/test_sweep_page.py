"""The comparison page: the best setting first, means over seeds, failures, and how far to trust the choice."""

from __future__ import annotations

from pathlib import Path

from tests.workflow.sweep.made import finished
from unknot.report.sweep_page import (
    SweepPage,
    by_setting,
    first_baselines,
    ranking_summary,
    render_sweep_page,
    write_sweep_page,
)
from unknot.workflow.sweep.ranking import Ranking, rank

ONE, TWO = {"train.objective.beta": 1}, {"train.objective.beta": "<4>"}


def ranked(folder: Path, by: str | None = None) -> Ranking:
    numbers = [(ONE, 0, 0.1), (ONE, 1, 0.5), (TWO, 0, 0.2), (TWO, 1, 0.3)]
    return rank([finished(folder, point, seed, {"kind": e}) for point, seed, e in numbers], by)


def test_the_best_setting_is_the_one_with_the_best_mean(tmp_path: Path) -> None:
    assert by_setting(ranked(tmp_path)) == {"beta = <4>": [1, 2], "beta = 1": [0, 3]}


def test_the_page_says_everything_and_escapes_it(tmp_path: Path) -> None:
    content = SweepPage(
        "mine", ranked(tmp_path), 5, {"beta = 9, seed 0": "it <failed>"}, {"kind": "beside"}, "a: 1"
    )
    page = render_sweep_page(content)
    for text in (
        "4 of 5 runs, 2 settings",
        "First: beta = 1, seed 0 (error of kind 10.00 %).",
        "slightly too good",
        "30.00 % ± 28.28 %",
        "beta = &lt;4&gt;",
        "it &lt;failed&gt;",
        "beside",
        "ModelCentrality",
        "data:image/png;base64",
        "a: 1",
    ):
        assert text in page
    assert "<4>" not in page
    write_sweep_page(content, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_without_labels_the_verdict_says_so(tmp_path: Path) -> None:
    assert (
        ranking_summary(ranked(tmp_path, "udr"))[1] == "Chosen without labels, by the agreement of restarts."
    )


def test_one_run_alone_is_not_ranked(tmp_path: Path) -> None:
    alone = finished(tmp_path, {}, 0)
    assert "no ranking" in ranking_summary(rank([alone]))[0]
    assert "no ranking" in render_sweep_page(SweepPage("one", rank([alone]), 1))
    assert first_baselines(alone) == {}
