"""`unknot evaluate`: scores as a table and as JSON, on the test split and on other files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import CSV_SPEC, csv_file, digits, refused, run, spec_file


def test_the_test_split(trained_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "evaluate", trained_run)
    assert (code, err) == (0, "")
    assert "digit" in out
    assert "held-out labels" in out
    assert "log loss" in out
    code, out, _ = run(capsys, "evaluate", trained_run, "--json")
    (score,) = json.loads(out)
    assert score["factor"] == "digit"
    assert 0 <= score["value"] <= 1
    assert score["items"] > 100
    assert score["labels"] == "held-out"
    assert score["interval"][0] <= score["value"] <= score["interval"][1]
    assert {"log_loss", "macro_f1", "mean_probability", "calibration_error"} <= set(score)


def test_evaluating_does_not_change_the_run(trained_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, "evaluate", trained_run, "--json")
    before = {p: p.read_bytes() for p in trained_run.rglob("*") if p.is_file()}
    assert run(capsys, "evaluate", trained_run, "--json") == first
    assert {p: p.read_bytes() for p in trained_run.rglob("*") if p.is_file()} == before


def test_other_files(trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images, classes = digits()
    upside_down = images[:50, None, ::-1]  # the run has not seen them
    np.savez(tmp_path / "more.npz", x=upside_down, digit=np.where(np.arange(50) < 40, classes[:50], -1))
    code, out, _ = run(capsys, "evaluate", trained_run, tmp_path / "more.npz", "--json")
    assert code == 0
    assert json.loads(out)[0]["items"] == 40
    np.savez(tmp_path / "bare.npz", x=images[:50, None])
    assert "has no labels" in refused(capsys, "evaluate", trained_run, tmp_path / "bare.npz")
    np.savez(tmp_path / "large.npz", x=np.zeros((3, 1, 9, 9), np.uint8))
    assert "(1, 9, 9), but (1, 8, 8) is needed" in refused(
        capsys, "evaluate", trained_run, tmp_path / "large.npz"
    )
    np.savez(tmp_path / "strange.npz", x=images[:2, None], digit=[4, 12])
    assert "got 12" in refused(capsys, "evaluate", trained_run, tmp_path / "strange.npz")


def test_data_without_a_test_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = spec_file(tmp_path, CSV_SPEC.replace("test_share: 0.25", "test_share: 0"))
    assert run(capsys, "fit", spec, csv_file(tmp_path / "t.csv"), "--run", "out")[0] == 0
    code, out, err = run(capsys, "evaluate", "out", "--json")
    assert (code, err) == (0, "")
    assert [(one["factor"], one["labels"]) for one in json.loads(out)] == [
        ("group", "out-of-fold"),
        ("severity", "out-of-fold"),
    ]
    assert run(capsys, "evaluate", "out", "t.csv", "--json") == (0, out, "")  # the same items
    lines = Path("t.csv").read_text().splitlines()
    new = [line.replace(",A,", ",B,") for line in lines[1:]]  # other items, some of them the same
    Path("new.csv").write_text("\n".join([lines[0], *new]) + "\n")
    code, out, err = run(capsys, "evaluate", "out", "new.csv", "--json")
    assert code == 0
    assert [score["factor"] for score in json.loads(out)] == ["group", "severity"]
    changed = [line for line, was in zip(new, lines[1:], strict=True) if line != was]
    assert json.loads(out)[0]["items"] == sum(line.split(",")[5] != "" for line in changed)
    assert "labels that the model was trained on are left out" in err
    Path("bare.csv").write_text(
        "\n".join([lines[0], *(line.rsplit(",", 2)[0] + ",," for line in new)]) + "\n"
    )
    assert "has no labels of the model's factors" in refused(capsys, "evaluate", "out", "bare.csv")
    (tmp_path / "other.csv").write_text("age,group\n50,ill\n")
    assert "no column 'smokes', which the model was trained on" in refused(
        capsys, "evaluate", "out", "other.csv"
    )
    (tmp_path / "moved").mkdir()
    shutil.move("t.csv", "moved/t.csv")
    assert "cannot be read" in refused(capsys, "fit", "--resume", "out", "--set", "train.steps=9")
    moved = ("--set", "train.steps=9", "--set", "data.file=moved/t.csv")
    assert run(capsys, "fit", "--resume", "out", *moved)[0] == 0
    assert run(capsys, "evaluate", "out", "new.csv")[0] == 0


def test_a_model_that_was_not_cross_fitted_has_no_error_on_its_own_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = CSV_SPEC.replace("test_share: 0.25", "test_share: 0").replace("steps: 8", "steps: 4, cross_fit: 0")
    code, out, _ = run(capsys, "fit", spec_file(tmp_path, text), csv_file(tmp_path / "t.csv"), "--run", "out")
    assert code == 0
    assert "its error is not known: --set train.cross_fit=3 hides them in turn, --test-share 0.2" in out
    for more in ((), ("t.csv",)):
        assert "only labels here are those that the model was trained on" in refused(
            capsys, "evaluate", "out", *more
        )


def test_counterfactuals(trained_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "evaluate", trained_run, "--counterfactuals", "--json")
    assert (code, err) == (0, "")
    (digit,) = json.loads(out)
    assert digit["verdict"].startswith("digit ")
    assert (digit["factor"], digit["settings"], digit["items"], digit["labels"]) == ("digit", 10, 230, 230)
    assert set(digit["moves"]) == {"style"}
    assert 0 <= digit["predictor"]["share"] <= 1
    assert digit["sharpness"]["changed"] > 0
    assert 0 <= digit["carried"] <= 1


def test_counterfactuals_of_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = spec_file(tmp_path, CSV_SPEC)
    assert run(capsys, "fit", spec, csv_file(tmp_path / "t.csv"), "--run", "out")[0] == 0
    code, out, _ = run(capsys, "evaluate", "out", "--counterfactuals")
    assert code == 0
    assert out.count("predicted as intended by an independent predictor") == 2
    assert "\nseverity " in out
