"""Pipes and folders under a file's name are refused before anybody waits for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unknot.data.files.special_file import refuse_special_file
from unknot.errors import DataError


def test_only_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="a pipe or a device"):
        refuse_special_file(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="is a folder"):
        refuse_special_file(tmp_path)
    (tmp_path / "file").write_text("")
    refuse_special_file(tmp_path / "file")
    refuse_special_file(tmp_path / "absent")
