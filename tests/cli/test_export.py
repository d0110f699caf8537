"""`unknot export`: files of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import refused, run
from unknot.cli import shared


@pytest.mark.slow
def test_onnx_files(trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "export", trained_run, "-o", tmp_path / "m.onnx")
    assert code == 0, err
    assert out.count("Wrote") == 3
    assert {path.name for path in tmp_path.iterdir()} == {"m.encoder.onnx", "m.decoder.onnx", "m.json"}


def test_the_page_stands_beside_the_report(
    trained_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    monkeypatch.setattr(shared, "write_explorer", lambda run, data, output, folder: written.append(output))
    assert run(capsys, "export", trained_run)[0] == 0
    assert written == [trained_run / "explorer.html"]


def test_other_endings_are_refused(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "a page is .html, graphs are .onnx" in refused(
        capsys, "export", trained_run, "-o", tmp_path / "m.pt"
    )


@pytest.mark.slow
def test_a_page_of_a_run_and_the_link_of_the_report(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "export", trained_run, "-o", tmp_path / "explorer.html")
    assert code == 0, err
    assert (tmp_path / "explorer.html").read_text().startswith("<!doctype html>")
    run(capsys, "report", trained_run, "-o", tmp_path / "report.html")
    assert '<a href="explorer.html">' in (tmp_path / "report.html").read_text()
