"""Which folders are looked in."""

from __future__ import annotations

from pathlib import Path

import pytest

from unknot.data.files.directories import cache_directory, data_directory
from unknot.errors import DataError


def test_the_argument_beats_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.setenv("UNKNOT_DATA", str(tmp_path / "two"))
    assert data_directory(tmp_path / "one") == tmp_path / "one"
    assert data_directory() == tmp_path / "two"
    monkeypatch.setenv("UNKNOT_DATA", "")
    assert data_directory() is None


def test_a_data_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere \(from --data-dir\) is not a folder: correct the path"):
        data_directory(tmp_path / "nowhere")


def test_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("UNKNOT_CACHE", raising=False)
    assert cache_directory() == Path("/home/someone/.cache/unknot")
    monkeypatch.setenv("XDG_CACHE_HOME", "/big/cache")
    assert cache_directory() == Path("/big/cache/unknot")
    monkeypatch.setenv("UNKNOT_CACHE", "~/mine")
    assert cache_directory() == Path("/home/someone/mine")
