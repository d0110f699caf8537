"""What commands open, and what they say when there is nothing to open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.cli.shared import is_run, load_with_data, show_table, show_unseen
from unknot.errors import DataError
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.unseen import Unseen


def test_a_model_needs_data(trained_run: Path, tmp_path: Path) -> None:
    assert is_run(trained_run)
    model = TrainedModel.load(trained_run)
    model.save(tmp_path / "model")
    assert not is_run(tmp_path / "model")
    with pytest.raises(DataError, match="is a model without data: give some, `unknot evaluate x DATA`"):
        load_with_data(tmp_path / "model", None, "unknot evaluate x DATA")
    np.savez(tmp_path / "new.npz", x=np.zeros((3, 8, 8), np.uint8), digit=[1, 2, 3])
    for path in (trained_run, tmp_path / "model"):
        same, few = load_with_data(path, tmp_path / "new.npz", "")
        assert same.shape == model.shape
        assert few.factors["digit"].values.tolist() == [1, 2, 3]


def test_tables_show_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("Digits", ("name", "value"), [("one", "1"), ("two", "2")])
    said = capsys.readouterr().out
    assert all(word in said for word in ("Digits", "name", "one", "2"))


def test_numbers_of_unseen_labels_are_a_column_for_each_factor(capsys: pytest.CaptureFixture[str]) -> None:
    shares = np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]])
    sizes = np.array([[1.0], [3.0]])
    digit = Unseen("digit", MEASURES["error"], ("0", "1"), np.arange(4), np.array([0, 0, 1, 1]), shares, 5)
    size = Unseen("size", MEASURES["root mean square error"], (), np.arange(2), sizes, sizes + 2)
    show_unseen([digit, size])
    lines = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if "│" in line]
    cells = {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}
    assert cells["measured on"] == ["4 out-of-fold labels", "2 held-out labels"]
    assert cells["value"] == ["25.00 %", "2"]
    assert cells["macro F1"] == ["0.733", ""]
    show_unseen([size])
    assert "log loss" not in capsys.readouterr().out
    show_unseen([])
    assert capsys.readouterr().out == ""
