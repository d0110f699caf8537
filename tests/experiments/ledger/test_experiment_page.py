"""The page of an experiment: its tables, a figure of each kind with its caption once, and where the runs come from."""

from __future__ import annotations

import pytest

from experiments.ledger.experiment import Measure
from experiments.ledger.experiment_page import cells_csv, experiment_page, gallery
from experiments.ledger.jobs import code_of
from experiments.ledger.ledger import read_result, reproduce
from experiments.ledger.source_closure import closure_digest
from tests.experiments.toy import CASE, OTHER, constant, install, png, toy


def make(monkeypatch: pytest.MonkeyPatch, folder, one, seeds=2, code="other", **more):
    content = reproduce(install(monkeypatch, one), "quick", seeds, folder, 1, lambda text: None, **more)
    return experiment_page(one, content, "Some notes.", code)


def test_misses_and_what_has_not_been_run_are_seen(tmp_path, monkeypatch) -> None:
    one = toy(constant(8.0), [CASE, OTHER])
    assert "Not run at this revision: `python -m experiments run toy" in experiment_page(one, None)
    page = make(monkeypatch, tmp_path, one, only=["M = 100"])
    assert "| error (%) | M = 100 | M = 1000 | seeds | CPU minutes per seed | compared with |" in page
    assert "| ours ° | 8.00 ± 0.00 | not run | 2 | 0.0 | S17 [P] |" in page
    assert "Not run at this revision:\n\n- ours, M = 1000" in page
    page = make(monkeypatch, tmp_path, one)
    assert "8.00 ± 0.00 (miss)" in page
    assert "## Notes\n\nSome notes." in page


def test_rows_of_the_present_code_have_no_mark_and_the_origin_is_told(tmp_path, monkeypatch) -> None:
    one = toy(constant(8.0))
    page = make(monkeypatch, tmp_path, one, code=closure_digest(code_of(one)))
    assert "| ours | 8.00 ± 0.00 |" in page
    assert "°" not in page
    assert "2 runs of 1 cells" in page


def test_every_number_is_in_the_csv_file(tmp_path, monkeypatch) -> None:
    one = toy(constant(8.0), [CASE, OTHER])
    make(monkeypatch, tmp_path, one)
    head, *lines = cells_csv(one, read_result(tmp_path, "toy"), "other").splitlines()
    assert head == "row,column,measure,unit,mean,sd,seeds,revision,marks"
    assert [line.split(",")[:7] for line in lines] == [
        ["ours", column, "error", "%", "8", "0", "2"] for column in ("M = 100", "M = 1000")
    ]
    assert all(line.endswith("°") for line in lines)


def test_tables_are_cut_to_eight_columns(tmp_path, monkeypatch) -> None:
    measures = [Measure(f"m{i}", f"m{i}") for i in range(13)]
    one = toy(lambda settings, seed, pictures: {f"m{i}": 1.0 for i in range(13)}, [{"row": "ours"}],
              measures=measures, yardsticks=[], judged={})  # fmt: skip
    page = make(monkeypatch, tmp_path, one)
    tables = [line for line in page.splitlines() if line.startswith("| ")]
    assert max(line.count("|") for line in tables) <= 9
    assert all(f"m{i} |" in page for i in range(13))


def test_one_figure_of_each_kind_and_the_rest_in_the_gallery(tmp_path, monkeypatch) -> None:
    def run(settings, seed, pictures):
        if pictures is not None:
            png(pictures / "analogies.png")
        return {"error": 1.0}

    def plot(content, folder):
        png(folder / "curve.png")

    one = toy(run, [CASE, OTHER], plot=plot, captions={"analogies": "Digits by column.", "curve": "Error."})
    page = make(monkeypatch, tmp_path, one)
    assert "![curve](../../results/figures/toy/curve.png)\n\n*Error.*" in page
    assert "(../../results/figures/toy/ours-m-100-analogies.png)" in page
    assert page.count("Digits by column.") == 1
    assert "ours-m-1000" not in page
    rest = gallery([(one, read_result(tmp_path, "toy"))], ())
    assert "ours-m-1000-analogies.png" in rest
    assert "ours-m-100-analogies.png" not in rest
    assert rest.count("Digits by column.") == 1
