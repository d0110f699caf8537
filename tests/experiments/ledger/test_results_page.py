"""The page of results: rows by columns, misses as misses, what has not been run, and pictures with words."""

from dataclasses import replace

import pytest

from experiments.ledger.experiment import Measure, Yardstick
from experiments.ledger.ledger import reproduce
from experiments.ledger.registry import EXPERIMENTS
from experiments.ledger.results_page import HEADLINES, Headline, results_page, results_summary
from tests.experiments.toy import CASE, OTHER, constant, install, png, toy


def make(monkeypatch: pytest.MonkeyPatch, folder, one, seeds=2, **more):
    reproduce(install(monkeypatch, one), "quick", seeds, folder, 1, lambda text: None, **more)
    return results_page([one], folder)


def test_misses_and_what_has_not_been_run_are_seen(tmp_path, monkeypatch) -> None:
    one = toy(constant(8.0), [CASE, OTHER])
    assert "Not run yet: `python -m experiments run toy`" in results_page([one], tmp_path)
    page = make(monkeypatch, tmp_path, one, only=["M = 100"])
    assert "| error (%) | M = 100 | M = 1000 | compared with | seeds | CPU minutes per seed |" in page
    assert "| ours | 8.00 ± 0.00 | not run | S17 [P] | 2 | 0.0 |" in page
    assert "| S17 [P] | 9.71 ± 0.91 | 2.88 |" in page
    page = make(monkeypatch, tmp_path, one)
    assert "| ours | 8.00 ± 0.00 | **miss** 8.00 ± 0.00 | S17 [P] |" in page


def test_higher_is_better_where_it_is_said(tmp_path, monkeypatch) -> None:
    measures = [Measure("error", "share right", "%", "higher", decimals=0)]
    page = make(monkeypatch, tmp_path, toy(constant(8.0), [CASE, OTHER], measures=measures))
    assert "| ours | **miss** 8 ± 0 | 8 ± 0 |" in page


def test_every_measure_has_its_table_of_the_rows_that_have_it(tmp_path, monkeypatch) -> None:
    def run(settings, seed, pictures):
        return {"error": 1.0, "leak": 90.0} if settings["labels"] == 100 else {"error": 2.0}

    cases = [CASE, {"row": "alone", "column": "M = 100", "labels": 1}]
    measures = [Measure("error", "error", "%"), Measure("leak", "error from style", "%", "higher")]
    goal = Yardstick("chance", {"M = 100": 90.0}, tag="goal", measure="leak")
    page = make(monkeypatch, tmp_path, toy(run, cases, measures=measures, yardsticks=[goal]), seeds=1)
    first, second = page.split("| error from style (%) | M = 100 |")
    assert "| alone | 2.00 |" in first
    assert "chance" not in first
    assert "| ours | 90.00 |" in second
    assert "alone" not in second
    assert "| chance [goal] | 90.00 |" in second


def test_without_columns_the_measures_are_the_columns(tmp_path, monkeypatch) -> None:
    def run(settings, seed, pictures):
        return {"error": 1.0, "leak": 90.0} if settings["labels"] == 100 else {"error": 2.0}

    measures = [Measure("error", "error", "%"), Measure("leak", "leak")]
    cases = [{"row": "ours", "labels": 100}, {"row": "alone", "labels": 1}]
    goal = Yardstick("S17", {"": 0.5})
    page = make(monkeypatch, tmp_path, toy(run, cases, measures=measures, yardsticks=[goal]), seeds=1)
    assert "|  | error (%) | leak | compared with | seeds | CPU minutes per seed |" in page
    assert "| ours | **miss** 1.00 | 90.00 | S17 [P] | 1 | 0.0 |" in page
    assert "| alone | 2.00 | – |  | 1 | 0.0 |" in page
    assert "| S17 [P] | 0.50 | – |" in page


def test_pictures_have_words(tmp_path, monkeypatch) -> None:
    def run(settings, seed, pictures):
        if pictures is not None:
            png(pictures / "analogies.png")
        return {"error": 1.0}

    def plot(content, folder):
        png(folder / "curve.png")

    one = toy(run, [CASE, OTHER], plot=plot, captions={"analogies": "Digits by column.", "curve": "Error."})
    page = make(monkeypatch, tmp_path, one)
    assert "![Error.](../results/figures/toy/curve.png)" in page
    caption = "ours, M = 100: Digits by column."
    assert f"![{caption}](../results/figures/toy/ours-m-100-analogies.png)\n\n*{caption}*" in page


def test_the_summary_is_one_line_a_headline_beside_the_simple_thing(tmp_path, monkeypatch) -> None:
    def run(settings, seed, pictures):
        return {"error": 3.0 if settings["labels"] == 100 else 8.0}

    cases = [CASE, {"row": "alone", "column": "M = 100", "labels": 1}]
    goal = Yardstick("goal", {"M = 100": 1.0}, tag="goal")
    one = toy(run, cases, yardsticks=[Yardstick("S17", {"M = 100": (9.71, 0.91)}), goal])
    line = Headline("toy", "toys from 100 labels: error", "M = 100", "alone", "labels alone")
    assert len(results_summary([one], tmp_path, [line]).splitlines()) == 2  # not run yet
    make(monkeypatch, tmp_path, one)
    _, _, *lines = results_summary([one], tmp_path, [line]).splitlines()
    assert lines == [
        "| toys from 100 labels: error | **3.00 ± 0.00 %** | 8.00 ± 0.00 %, labels alone | S17 9.71 ± 0.91 | 2 |"
    ]
    bare = results_summary([one], tmp_path, [Headline("toy", "toys", "M = 100")])
    assert bare.splitlines()[2] == "| toys | **3.00 ± 0.00 %** |  | S17 9.71 ± 0.91 | 2 |"
    assert len(results_summary([one], tmp_path, [line] * 20).splitlines()) == 2 + 10
    own = replace(one, short=lambda content: ("68 %", "66 %", 5))
    said = results_summary([own], tmp_path, [Headline("toy", "toys", simple_words="by hand")])
    assert said.splitlines()[2] == "| toys | **68 %** | 66 %, by hand |  | 5 |"
    not_yet = replace(one, short=lambda content: None)
    assert len(results_summary([not_yet], tmp_path, [line]).splitlines()) == 2
    page = results_page([one], tmp_path)
    assert (
        page.index("## In short") < page.index("## toy") < page.index("<details><summary>Tables and figures")
    )


# ---- The headlines speak of cells that there are ---------------------------------------------------------


@pytest.mark.parametrize("line", HEADLINES, ids=lambda line: line.experiment)
def test_its_cell_and_the_simple_one_are_cases(line: Headline) -> None:
    cases = EXPERIMENTS[line.experiment].cases("quick")
    places = {(case["row"], case.get("column", "")) for case in cases}
    assert not line.simple or (line.simple, line.column) in places
    if EXPERIMENTS[line.experiment].short is None:
        assert (cases[0]["row"], line.column) in places
        assert bool(line.simple) == bool(line.simple_words)
    else:  # it says its line itself
        assert line.simple_words
        assert not line.simple


def test_a_newcomer_reads_at_most_ten() -> None:
    assert len(HEADLINES) <= 10
