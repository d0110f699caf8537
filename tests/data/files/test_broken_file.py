"""Whatever a broken file makes a reader raise becomes one sentence; mistakes of ours do not."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from unknot.data.files.broken_file import explain_broken_file, refuse_special_file
from unknot.errors import DataError

READERS: dict[str, Callable[[Path], Any]] = {
    "a gzip": lambda path: gzip.decompress(path.read_bytes()),
    "an lzma": lambda path: lzma.decompress(path.read_bytes()),
    "a tar": lambda path: tarfile.TarFile.open(fileobj=io.BytesIO(path.read_bytes())),
    "a zip": zipfile.ZipFile,
    "an array": lambda path: np.load(io.BytesIO(path.read_bytes()), allow_pickle=False),
    "an image": Image.open,
    "a number": lambda path: int(path.read_text()),
}


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("content", [b"?", b"\x1f\x8b nonsense", b"PK\x03\x04 nonsense"])
def test_the_file_and_what_it_should_be_are_named(tmp_path: Path, what: str, content: bytes) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    message = rf"The data file .*x\.bin cannot be read as {what} \(.+\): replace it by a good copy\."
    with pytest.raises(DataError, match=message), explain_broken_file(path, what):
        READERS[what](path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match=r"x\.bin cannot be read"),
        explain_broken_file(tmp_path / "x.bin", "text"),
    ):
        (tmp_path / "x.bin").read_text()


def test_mistakes_of_the_program_are_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(AttributeError), explain_broken_file(tmp_path, "text"):
        tmp_path.read_txt()  # type: ignore[attr-defined]


def test_only_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="a pipe or a device"):
        refuse_special_file(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="is a folder"):
        refuse_special_file(tmp_path)
    (tmp_path / "file").write_text("")
    refuse_special_file(tmp_path / "file")
    refuse_special_file(tmp_path / "absent")
