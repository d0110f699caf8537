"""Labels of other forms at the command line: a tree of classes, columns of raters, and cells such as A|B."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import refused, run
from tests.cli.test_predict import rows_of
from unknot.estimator import StructuredVAE

TREE = "left: [a, b]\nright: [c]\n"
SHORT = ("--set", "train.steps=5", "--set", "train.cross_fit=0", "--no-verdict")


def table(path: Path, columns: dict[str, list[str]]) -> Path:
    """Rows of three kinds, with columns of labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)) + 3 * np.eye(3, 2)[np.arange(60) % 3]
    lines = [f"{u:.3f},{v:.3f}" for u, v in x]
    rows = [",".join(both) for both in zip(lines, *columns.values(), strict=True)]
    path.write_text("\n".join([",".join(["u", "v", *columns]), *rows]) + "\n")
    return path


def test_cells_are_nodes_of_a_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tree.yaml").write_text(TREE)
    cells = ["a", "left/b", "c", "left", "left/*", "!left", "", "a|c", "b", "right"]
    data = table(tmp_path / "t.csv", {"kind": cells * 6})
    where = tmp_path / "run"
    code, out, err = run(
        capsys, "fit", data, "--label", "kind", "--tree", tmp_path / "tree.yaml", "-o", where, *SHORT
    )
    assert code == 0, err
    assert "kind: 3 classes (a, b, c), known for 36 of 60, partly known for 18" in out
    assert run(capsys, "predict", where, data, "-o", tmp_path / "p.csv")[0] == 0
    rows = rows_of(tmp_path / "p.csv")
    assert list(rows[0]) == ["row", "kind", "kind probability", "kind depth 1", "kind depth 1 probability"]
    assert {row["kind depth 1"] for row in rows} <= {"left", "right"}
    assert all(
        float(row["kind depth 1 probability"]) >= float(row["kind probability"]) - 1e-3 for row in rows
    )
    wrong = table(tmp_path / "w.csv", {"kind": ["a", "b", "d"] * 20})
    said = refused(capsys, "fit", wrong, "--label", "kind", "--tree", tmp_path / "tree.yaml", *SHORT)
    assert "row 2: got d, expected one of the classes" in said


def test_columns_of_raters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth = list("abc" * 20)
    votes = {"ann": truth, "bob": ["a"] * 30 + truth[30:], "cem": [""] * 20 + truth[20:]}
    data = table(tmp_path / "t.csv", votes)
    raters = [word for name in votes for word in ("--rater", name)]
    code, out, err = run(capsys, "fit", data, "--label", "kind", *raters, "-o", tmp_path / "run", *SHORT)
    assert code == 0, err
    assert "2 real (u, v)" in out
    assert "votes of 3 raters" in out
    found = StructuredVAE.load(tmp_path / "run").rater_confusion_["kind"]
    assert list(found) == ["ann", "bob", "cem"]
    assert found["ann"].shape == (3, 3)
    assert np.diag(found["ann"]).mean() > np.diag(found["bob"]).mean()
    said = refused(capsys, "fit", data, "--label", "kind", "--rater", "dan", *SHORT)
    assert "has no labels of 'dan'" in said
    assert "belong to one label" in refused(
        capsys, "fit", data, "--label", "a", "--label", "b", "--rater", "ann"
    )
