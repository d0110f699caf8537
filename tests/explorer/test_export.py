"""Files that are exported."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from tests.explorer.models import exported
from unknot.errors import SpecError
from unknot.explorer import export
from unknot.explorer.export import export_onnx


def test_the_graphs_and_the_factors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, made = exported("digits")
    monkeypatch.setattr(export, "export_graphs", lambda _: made)
    paths = export_onnx(model, tmp_path / "model.onnx")
    assert [path.name for path in paths] == ["model.encoder.onnx", "model.decoder.onnx", "model.json"]
    for path in paths[:2]:
        onnx.checker.check_model(onnx.load(path))
    description = json.loads(paths[-1].read_text())
    assert description["factors"][0] == {
        "name": "digit", "family": "concrete", "size": 10, "labels": True, "classes": [*"0123456789"],
    }  # fmt: skip
    assert description["graphs"]["decoder"] == {"inputs": ["digit", "style"], "outputs": ["expected"]}
    assert description["not_exported"] == {}


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"exported to \.onnx, but got model\.pt"):
        export_onnx(exported("digits")[0], tmp_path / "model.pt")
