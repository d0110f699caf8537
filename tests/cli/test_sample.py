"""`unknot sample`: sheets and arrays, with nodes set, the same from the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import CSV_SPEC, csv_file, image_folder, refused, run, spec_file


def test_arrays(trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def sample(name: str, *options: str) -> np.ndarray:
        assert run(capsys, "sample", trained_run, "-n", "5", "-o", tmp_path / name, *options)[0] == 0
        return np.load(tmp_path / name)["x"]

    one = sample("a.npz")
    assert one.shape == (5, 1, 8, 8)
    assert 0 <= one.min() < one.max() <= 1
    np.testing.assert_array_equal(one, sample("b.npz"))
    assert not np.array_equal(one, sample("c.npz", "--seed", "1"))
    fixed = sample("d.npz", "--set", "digit=3", "--set", "style=[0.0, 1.0, 0.0]")
    np.testing.assert_allclose(fixed, np.broadcast_to(fixed[:1], fixed.shape), rtol=1e-5)


def test_a_sheet_of_images(trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    code, out, _ = run(capsys, "sample", trained_run, "-n", "11", "-o", tmp_path / "s.png")
    assert code == 0
    assert "Wrote 11 items" in out
    with Image.open(tmp_path / "s.png") as sheet:
        assert min(sheet.size) > 50


def test_classes_by_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = spec_file(tmp_path, "model: {style: 2, width: 16}\ntrain: {steps: 2, batch_size: 8}\n")
    assert run(capsys, "fit", spec, image_folder(tmp_path / "images"), "--run", "out")[0] == 0
    assert run(capsys, "sample", "out", "--set", "parity=odd", "-o", "odd.npz")[0] == 0
    assert "no class 'prime'; it has even, odd" in refused(capsys, "sample", "out", "--set", "parity=prime")


def test_mistakes(trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no factor 'color'" in refused(capsys, "sample", trained_run, "--set", "color=1")
    assert "no class 12" in refused(capsys, "sample", trained_run, "--set", "digit=12")
    assert "KEY=VALUE" in refused(capsys, "sample", trained_run, "--set", "digit")
    assert "images go to a .png sheet" in refused(capsys, "sample", trained_run, "-o", tmp_path / "x.gif")
    refused(capsys, "sample", trained_run, "-o", tmp_path / "x.png", "--set", "style=[1.0]")
    code, _, err = run(capsys, "sample", trained_run, "--seed", str(10**30))
    assert code == 2
    assert "--seed" in err


def test_tables_are_drawn_with_their_words_and_column_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "t.csv")
    assert run(capsys, "fit", spec_file(tmp_path, CSV_SPEC), "t.csv", "--run", "out")[0] == 0
    assert run(capsys, "sample", "out", "--set", "group=ill", "-n", "40")[0] == 0
    header, *rows = (tmp_path / "samples.csv").read_text().splitlines()
    assert header == "age,smokes,blood,visits"
    cells = [row.split(",") for row in rows]
    assert len(cells) == 40
    assert {row[1] for row in cells} <= {"0", "1"}
    assert {row[2] for row in cells} == {"A", "B", "O"}
    assert all(float(row[3]) == int(float(row[3])) for row in cells)
    assert run(capsys, "sample", "out", "--mean", "-o", "mean.csv")[0] == 0
    assert "here .csv" in refused(capsys, "sample", "out", "-o", "x.png")
