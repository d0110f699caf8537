"""`unknot ask`: a table of the items to label next."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import refused, run
from tests.cli.test_predict import rows_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three kinds of rows, with the kind of every third one."""
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    x = rng.normal(size=(60, 3)) + 2 * np.eye(3)[kinds]
    lines = [",".join(f"{value:.3f}" for value in row) for row in x]
    labels = ["abc"[kind] if row % 4 == 0 else "" for row, kind in enumerate(kinds)]
    path = tmp_path / "t.csv"
    path.write_text("u,v,w,kind\n" + "\n".join(f"{a},{b}" for a, b in zip(lines, labels, strict=True)) + "\n")
    return path


def test_a_table_of_items_to_label(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--set", "train.steps=10", "--set", "data.test_share=0"]
    assert run(capsys, "fit", table, "--label", "kind", "-o", tmp_path / "run", *short)[0] == 0
    code, out, _ = run(capsys, "ask", tmp_path / "run", table, "-k", "4", "-o", tmp_path / "ask.csv")
    assert code == 0
    assert "Wrote 4 items" in out
    rows = rows_of(tmp_path / "ask.csv")
    assert list(rows[0]) == ["row", "variance left"]
    assert len({row["row"] for row in rows}) == 4
    left = [float(row["variance left"]) for row in rows]
    assert left == sorted(left, reverse=True)
    assert left[0] < 1
    said = refused(capsys, "ask", tmp_path / "run", table, "--factor", "sort", "-o", tmp_path / "a.csv")
    assert "choose a factor with --factor, one of kind" in said
    assert "would overwrite the data" in refused(capsys, "ask", tmp_path / "run", table, "-o", table)
