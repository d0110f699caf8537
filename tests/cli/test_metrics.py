"""`unknot metrics`: prints the table, writes JSON and a figure, and refuses in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import refused, run
from unknot.metrics import mig

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, 3, (200, 2))
CODES = FACTORS + 0.2 * RNG.normal(size=(200, 2))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.savez(tmp_path / "codes.npz", codes=CODES, factors=FACTORS)
    return tmp_path / "codes.npz"


def test_table_json_and_figure(file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    scores, figure = tmp_path / "scores.json", tmp_path / "importance.png"
    options = ["--only", "mig,med,nmi", "--resamples", "2", "--jobs", "1"]
    code, out, _ = run(capsys, "metrics", file, *options, "--json", scores, "--png", figure)
    assert code == 0
    value = mig(CODES, FACTORS).value
    line = next(line for line in out.splitlines() if line.startswith("mig "))
    assert f"{value:.3f}" in line
    assert "locatello2019" in line
    assert "nmi: left out" in out
    written = json.loads(scores.read_text())
    assert written["rows"][0]["value"] == value
    assert written["codes"] == ["code[0]", "code[1]"]
    assert np.shape(written["importance"]) == (2, 2)
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_named_arrays_and_probabilities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "named.npz"
    arrays = {"code.z": CODES, "probabilities.c": np.eye(3)[FACTORS[:, 0]], "factor.shape": FACTORS[:, 0]}
    np.savez(path, **arrays)
    code, out, _ = run(capsys, "metrics", path, "--only", "class_accuracy", "--resamples", "0")
    assert code == 0
    assert "1.000" in out


def test_refusals(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "There is no file" in refused(capsys, "metrics", tmp_path / "none.npz")
    np.savez(tmp_path / "half.npz", codes=CODES)
    assert "has no factors" in refused(capsys, "metrics", tmp_path / "half.npz")
    (tmp_path / "bad.npz").write_bytes(b"not an archive")
    assert "cannot be read" in refused(capsys, "metrics", tmp_path / "bad.npz")
    assert "did you mean 'kim2018'" in refused(capsys, "metrics", file, "--protocol", "kim2019")
    only = ["--only", "sap", "--resamples", "0", "--png", tmp_path / "x.png"]
    np.savez(tmp_path / "nan.npz", codes=np.where(CODES > 2, np.nan, CODES), factors=FACTORS)
    assert "not finite" in refused(capsys, "metrics", tmp_path / "nan.npz", *only)
    assert "importance matrix" in refused(capsys, "metrics", file, *only)
    drawn = ["--only", "mig", "--resamples", "0", "--png", tmp_path / "x.doc"]
    assert "got .doc" in refused(capsys, "metrics", file, *drawn)
    (tmp_path / "codes.csv").write_text("a,b\n1,2\n")
    assert "a file of another kind" in refused(capsys, "metrics", tmp_path / "codes.csv")


def test_one_factor_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "one.npz", codes=CODES, factors=FACTORS[:, 0])
    code, out, _ = run(capsys, "metrics", tmp_path / "one.npz", "--only", "mig,beta_vae", "--resamples", "0")
    assert code == 0
    assert "beta_vae: left out" in out
