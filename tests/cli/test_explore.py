"""`unknot explore`: the page in a temporary file."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import pytest

from tests.cli.running import run
from unknot.cli import shared


def test_the_page_is_written_and_opened(
    trained_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(shared, "write_explorer", lambda run, data, output, folder: output.write_text("page"))
    code, out, _ = run(capsys, "explore", trained_run)
    assert code == 0
    path = Path(re.search(r"in (\S+)\.\n", out)[1])  # type: ignore[index]
    assert path.read_text() == "page"
    assert opened == [path.as_uri()]
