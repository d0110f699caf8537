"""What commands open, and what they say when there is nothing to open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.cli.shared import is_run, load_with_data, show_scores, show_table
from unknot.errors import DataError
from unknot.workflow.evaluation import Score
from unknot.workflow.trained_model import TrainedModel


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


def test_scores_are_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_scores(
        [
            Score("digit", "error", 0.25, 300, (0.204, 0.302)),
            Score("size", "root mean square error", 2.0, 10),
        ],
        "test data",
    )
    said = capsys.readouterr().out
    assert "Encoder on the test data" in said
    assert "25.00 % (20.4 to 30.2 %)" in said
    assert "root mean square error" in said
