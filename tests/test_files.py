"""Files and folders appear whole or not at all; locks; what a disk that refuses is answered."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import IO

import pytest

from unknot.errors import DiskError
from unknot.files import (
    atomic_file,
    atomic_folder,
    bring_back,
    disk_error,
    lock,
    remove_leftovers,
    write_file,
    write_folder,
)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---- files --------------------------------------------------------------------------------------------


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.bin"
    with atomic_file(target) as stream:
        stream.write(b"content")
        assert not target.exists()
    assert target.read_bytes() == b"content"
    assert _names(target.parent) == ["file.bin"]


def test_the_block_can_read_what_it_wrote_by_name(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "file") as stream:
        stream.write(b"content")
        stream.flush()
        assert Path(stream.name).read_bytes() == b"content"


def test_a_file_has_the_rights_of_any_other(tmp_path: Path) -> None:
    write_file(tmp_path / "ours", b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "file.bin"
    target.write_bytes(b"old")

    def fail(stream: IO[bytes]) -> None:
        stream.write(b"new")
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"), atomic_file(target) as stream:
        fail(stream)
    assert target.read_bytes() == b"old"
    assert _names(tmp_path) == ["file.bin"]


# ---- folders ------------------------------------------------------------------------------------------


def test_a_folder_appears_with_all_its_files(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder"
    with atomic_folder(target) as folder:
        (folder / "below").mkdir()
        (folder / "below" / "a").write_bytes(b"a")
        assert not target.exists()
    assert (target / "below" / "a").read_bytes() == b"a"
    assert _names(target.parent) == ["folder"]


def test_an_empty_folder_is_filled_and_a_full_one_refused(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    write_folder(target, {"a": b"1"})
    with pytest.raises(DiskError, match=r"Could not write .*folder: it is there already and not empty"):
        write_folder(target, {"b": b"2"})
    assert (target / "a").read_bytes() == b"1"
    assert _names(tmp_path) == ["folder"]


def test_the_caller_s_own_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    write_folder(target, {"a": b"1", "b": b"1"})
    write_folder(target, {"a": b"2"}, replace=True)
    assert _names(target) == ["a"]
    assert (target / "a").read_bytes() == b"2"
    assert _names(tmp_path) == ["folder"]


def test_a_folder_of_that_name_is_not_replaced_by_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for target in (tmp_path, Path("."), Path("/")):
        with pytest.raises(DiskError, match="it is a folder; name a file in it"):
            write_file(target, b"1")


def test_a_file_of_that_name_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_bytes(b"mine")
    with pytest.raises(DiskError, match=r"table\.csv: a file stands where a folder should be"):
        write_folder(target, {"a": b"1"}, replace=True)
    assert target.read_bytes() == b"mine"
    assert _names(tmp_path) == ["table.csv"]


def _fail(folder: Path) -> None:
    (folder / "a").write_bytes(b"2")
    raise RuntimeError("halfway")


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    write_folder(tmp_path / "folder", {"a": b"1"})
    with (
        pytest.raises(RuntimeError, match="halfway"),
        atomic_folder(tmp_path / "folder", replace=True) as folder,
    ):
        _fail(folder)
    assert (tmp_path / "folder" / "a").read_bytes() == b"1"
    assert _names(tmp_path) == ["folder"]


def test_the_old_folder_comes_back_when_the_new_one_cannot_take_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "folder"
    write_folder(target, {"a": b"1"})
    rename = Path.rename

    def refuse(self: Path, to: Path) -> Path:
        if self.suffix == ".tmp":
            raise OSError(errno.EDQUOT, "")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr("unknot.files._swapped", lambda new, target: False)
    with pytest.raises(DiskError, match="quota is used up"):
        write_folder(target, {"a": b"2"}, replace=True)
    assert (target / "a").read_bytes() == b"1"
    assert _names(tmp_path) == ["folder"]


# ---- leftovers ----------------------------------------------------------------------------------------


def test_what_is_being_written_is_no_leftover(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "file") as stream, atomic_folder(tmp_path / "folder") as folder:
        stream.write(b"1")
        (folder / "a").write_bytes(b"1")
        remove_leftovers(tmp_path)
    assert _names(tmp_path) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"1"


def _write_and_wait(folder: str, ready: multiprocessing.SimpleQueue[bool]) -> None:
    with atomic_file(Path(folder, "file")) as stream, atomic_folder(Path(folder, "folder")):
        stream.write(b"half")
        ready.put(True)
        time.sleep(600)


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.SimpleQueue()
    process = context.Process(target=_write_and_wait, args=(str(tmp_path), ready))
    process.start()
    ready.get()
    remove_leftovers(tmp_path)
    assert len(_names(tmp_path)) == 2  # its process lives
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    remove_leftovers(tmp_path)
    assert _names(tmp_path) == []


def test_a_folder_that_was_moved_away_and_never_replaced_comes_back(tmp_path: Path) -> None:
    """What a process leaves that is killed between the two renames, and one killed just after the second."""
    for name in ("lost", "kept"):
        write_folder(tmp_path / name, {"a": b"1"})
        (tmp_path / name).rename(tmp_path / f".{name}.replaced")
    write_folder(tmp_path / "kept", {"a": b"2"})
    remove_leftovers(tmp_path)
    assert _names(tmp_path) == ["kept", "lost"]
    assert (tmp_path / "lost" / "a").read_bytes() == b"1"
    assert (tmp_path / "kept" / "a").read_bytes() == b"2"


# ---- disks that refuse --------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_file_and_nothing_else(small_disk: Path) -> None:
    target = small_disk / "file.bin"
    target.write_bytes(b"old")
    message = r"Could not write .*file\.bin: the disk is full; free some space"
    with pytest.raises(DiskError, match=message):
        write_file(target, bytes(1_000_000))
    assert target.read_bytes() == b"old"
    with pytest.raises(DiskError, match=r"Could not write .*folder: the disk is full"):
        write_folder(small_disk / "folder", {"a": bytes(1_000_000)})
    assert _names(small_disk) == ["file.bin"]


def test_a_read_only_folder_is_said(read_only_folder: Path) -> None:
    message = r"Could not write .*x: .*(read-only|not permitted); choose a folder"
    with pytest.raises(DiskError, match=message):
        write_file(read_only_folder / "x", b"")


def test_a_path_below_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(DiskError, match=r"Could not write .*file.folder.\.lock: a file stands where"),
        lock(tmp_path / "file" / "folder" / ".lock"),
    ):
        pass


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full; free some space, or choose a folder"),
        (errno.EDQUOT, "the disk quota is used up; free some space, or choose a folder"),
        (errno.EFBIG, "the file size limit is reached; raise it"),
        (errno.EROFS, "the disk is read-only; choose a folder"),
        (errno.EACCES, "writing there is not permitted; choose a folder"),
        (errno.ENOTDIR, "a file stands where a folder should be; choose a folder"),
        (errno.EIO, "Input/output error; choose a folder"),
    ],
)
def test_the_sentence_names_file_reason_and_remedy(code: int, words: str) -> None:
    error = disk_error(Path("table.csv"), OSError(code, os.strerror(code)))
    assert str(error).startswith(f"Could not write table.csv: {words}")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # a worker process hands it on


# ---- the lock -----------------------------------------------------------------------------------------


def _append_twice(folder: Path, name: str) -> None:
    with lock(folder / ".turn.lock"), (folder / "log").open("a") as log:
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


def test_who_does_not_wait_is_told(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with lock(path) as held, lock(path, wait=False) as second:
        assert (held, second) == (True, False)
    with lock(path, wait=False) as held:
        assert held


# ---- replaced folders ------------------------------------------------------------------------------------


def test_at_no_moment_is_a_replaced_folder_missing(tmp_path: Path) -> None:
    """A reader that looks all the time sees the old folder or the new one, never neither and never a mixture."""
    target = tmp_path / "model"
    write_folder(target, {"a": b"0", "b": b"0"})
    stop, seen = threading.Event(), set()

    def look() -> None:
        while not stop.is_set():
            handle = os.open(target, os.O_RDONLY)  # one folder, whatever its name is afterwards
            try:
                files = [os.open(name, os.O_RDONLY, dir_fd=handle) for name in ("a", "b")]
                seen.add(tuple(os.read(one, 9) for one in files))
                for one in files:
                    os.close(one)
            except FileNotFoundError:
                pass  # the old folder is being removed
            finally:
                os.close(handle)

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(50):
        write_folder(target, {"a": str(number).encode(), "b": str(number).encode()}, replace=True)
    stop.set()
    reader.join()
    assert all(a == b for a, b in seen)
    assert _names(tmp_path) == ["model"]


def test_without_a_swap_a_folder_that_was_moved_away_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model"
    write_folder(target, {"a": b"old"})
    monkeypatch.setattr("unknot.files._swapped", lambda new, target: False)
    write_folder(target, {"a": b"new"}, replace=True)
    assert (target / "a").read_bytes() == b"new"
    assert _names(tmp_path) == ["model"]
    target.rename(tmp_path / ".model.replaced")  # where a kill between the two renames leaves it
    bring_back(target)
    assert (target / "a").read_bytes() == b"new"
