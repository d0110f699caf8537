"""`unknot export`: files of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import refused, run


def test_onnx_files(trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "export", trained_run, "-o", tmp_path / "m.onnx")
    assert code == 0, err
    assert out.count("Wrote") == 3
    assert {path.name for path in tmp_path.iterdir()} == {"m.encoder.onnx", "m.decoder.onnx", "m.json"}


def test_other_endings_are_refused(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ".onnx" in refused(capsys, "export", trained_run, "-o", tmp_path / "m.pt")
