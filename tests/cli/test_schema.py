"""`unknot schema`: printed, or written to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unknot.cli import main
from unknot.workflow.schema import spec_schema


def test_the_schema_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["schema"])
    assert json.loads(capsys.readouterr().out) == spec_schema()
    with pytest.raises(SystemExit, match="0"):
        main(["schema", "-o", str(tmp_path / "new" / "schema.json")])
    assert json.loads((tmp_path / "new" / "schema.json").read_text()) == spec_schema()
