"""`unknot report`: one page that needs no other file."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.running import CSV_SPEC, csv_file, refused, run, spec_file
from unknot.train import loop
from unknot.workflow.counterfactuals import evaluate
from unknot.workflow.counterfactuals.evaluate import CACHE

VOID = {"meta", "img", "br", "hr", "input", "link"}


class Reader(HTMLParser):
    """Refuses tags that do not nest, and notes everything a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [v or "" for k, v in attributes if k in ("src", "href", "xlink:href", "srcset")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_the_page_is_whole_and_needs_nothing_else(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "report", trained_run, "-o", tmp_path / "r.html")
    assert code == 0
    assert "r.html" in out
    page = (tmp_path / "r.html").read_text()
    reader = read(page)
    assert all(source.startswith(("data:image/png;base64,", "#")) for source in reader.sources)
    assert not re.search(r"url\(\s*['\"]?https?:|@import", page)
    assert "svg" in reader.tags
    assert reader.tags.count("img") >= 6
    for words in ("digit", "Reconstructions", "Analogies: digit", "Traversals of style", "Style grid",
                  "Confusion: digit", "Information per dimension", "Training curves", "config.yaml"):  # fmt: skip
        assert words in page, words
    assert len(page) < 2_000_000


def test_a_table_has_a_report_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        run(capsys, "fit", spec_file(tmp_path, CSV_SPEC), csv_file(tmp_path / "t.csv"), "--run", "out")[0]
        == 0
    )
    assert run(capsys, "report", "out")[0] == 0
    page = (tmp_path / "out" / "report.html").read_text()
    read(page)
    assert "root mean square error" in page
    assert "On labels it had not seen, it is right in" in page
    assert "Confusion: group" in page
    assert "Typical rows: group" in page
    assert re.search(r"<th>column</th><th>ill</th><th>well</th>", page)
    assert re.search(
        r">age</td>(<td data-column=\"\w+\">[^<]+ \([^<]+\)</td>){2}", page
    )  # expected, and observed
    assert "Missing values" in page
    assert "What changes with group" in page
    assert "Predicted and true: severity" in page


def test_only_the_first_report_of_a_run_trains(
    trained_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained_run, tmp_path / "run")
    (tmp_path / "run" / CACHE).unlink(missing_ok=True)
    assert run(capsys, "report", tmp_path / "run")[0] == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "predicted as intended by an independent predictor" in page
    trainings = []
    monkeypatch.setattr(evaluate, "make_predictor", lambda *given: trainings.append(given))
    monkeypatch.setattr(loop, "fit", lambda *given: trainings.append(given))
    assert run(capsys, "report", tmp_path / "run")[0] == 0
    assert trainings == []
    assert (tmp_path / "run" / "report.html").read_text() == page
    (tmp_path / "run" / CACHE).write_text("damaged")
    assert run(capsys, "report", tmp_path / "run")[0] == 0
    assert len(trainings) == 1  # a damaged file, or that of another state of the run, is not used
    assert json.loads((tmp_path / "run" / CACHE).read_text())["step"] == 6


def test_a_folder_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "holds no model" in refused(capsys, "report", tmp_path)
