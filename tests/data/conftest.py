"""Fixtures of the data tests: an empty cache, the real data where there is some."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data directory but the ones a test names."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("UNKNOT_CACHE", str(folder))
    monkeypatch.delenv("UNKNOT_DATA", raising=False)
    return folder


@pytest.fixture
def real_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory that UNKNOT_DATA names; a test that wants it is skipped where there is none."""
    named = os.environ.get("UNKNOT_DATA")
    if not named:
        pytest.skip("needs the real data: set UNKNOT_DATA to a folder that has them")
    monkeypatch.setenv("UNKNOT_CACHE", str(tmp_path / "cache"))
    return Path(named)
