"""Files appear whole or not at all."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import IO

import pytest

from unknot.data.atomic import atomic_write, lock
from unknot.errors import DataError


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.bin"
    with atomic_write(target) as stream:
        stream.write(b"content")
        assert not target.exists()
    assert target.read_bytes() == b"content"
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "file.bin"
    target.write_bytes(b"old")

    def fail(stream: IO[bytes]) -> None:
        stream.write(b"new")
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"), atomic_write(target) as stream:
        fail(stream)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.bin"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(small_disk: Path) -> None:
    target = small_disk / "file.bin"
    target.write_bytes(b"old")
    message = r"Could not write .*file\.bin: the disk is full; free some space"
    with pytest.raises(DataError, match=message), atomic_write(target) as stream:
        stream.write(bytes(1_000_000))
    assert target.read_bytes() == b"old"
    assert [path.name for path in small_disk.iterdir()] == ["file.bin"]


def test_a_read_only_folder_is_said(read_only_folder: Path) -> None:
    with (
        pytest.raises(DataError, match=r"Could not write .*x: .*(read-only|not permitted); choose a folder"),
        atomic_write(read_only_folder / "x"),
    ):
        pass


def test_a_path_below_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(DataError, match=r"Could not write .*file.folder: "),
        lock(tmp_path / "file" / "folder", "x"),
    ):
        pass


def _append_twice(folder: Path, name: str) -> None:
    with lock(folder, "turn"), (folder / "log").open("a") as log:
        log.write(name)
        log.flush()
        time.sleep(0.1)
        log.write(name)


def test_two_holders_take_turns(tmp_path: Path) -> None:
    """Here two threads; two processes are in test_sources.py."""
    threads = [threading.Thread(target=_append_twice, args=(tmp_path, name)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (tmp_path / "log").read_text() in ("aabb", "bbaa")
