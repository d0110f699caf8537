"""Texts from a folder to an answer, by the command line alone: docstrings, and which package they are from."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.docstrings import write_docstrings
from tests.cli.running import run


def test_a_folder_of_texts_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_docstrings(tmp_path / "texts", 60)
    few = ("--set", "labels.budget.label=12", "--set", "train.steps=20", "--set", "data.test_share=0.3")
    code, out, err = run(capsys, "fit", "texts", *few, "--run", "out")
    assert (code, err) == (0, "")
    assert "texts of texts" in out
    assert "Label label: 3 classes" in out
    code, out, err = run(capsys, "predict", "out", "texts", "-o", "said.csv")
    assert (code, err) == (0, "")
    with open("said.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    right = sum(row["file"].split("/")[0] == row["label"] for row in rows) / len(rows)
    assert right > 0.8  # four labels of each package
    code, out, err = run(
        capsys, "sample", "out", "-n", "3", "--set", "label=matplotlib", "--mean", "-o", "new.csv"
    )
    assert (code, err) == (0, "")
    assert "axes" in (tmp_path / "new.csv").read_text()
    code, out, err = run(capsys, "report", "out")
    assert code == 0, err
