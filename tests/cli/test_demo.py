"""The demonstration, without MNIST: it says so, and goes on with the embedded digits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run


def test_the_demo_runs_from_nothing_to_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("UNKNOT_DATA", "UNKNOT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(place, str(tmp_path))
    monkeypatch.setattr("unknot.workflow.demo.load", _absent)
    monkeypatch.chdir(tmp_path)
    code, said, _ = run(capsys, "demo", "--steps", "3", "--run", "out")
    assert code == 0
    assert "MNIST is not available" in said
    assert "Test error of the digit encoder" in said
    assert (tmp_path / "out" / "report.html").exists()
    assert (tmp_path / "out" / "analogies.png").exists()


def _absent(name: str, data_dir: object = None) -> None:
    from unknot.errors import DataError

    raise DataError("it is nowhere")
