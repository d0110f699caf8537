"""Files and folders that appear whole or not at all, a lock, and the sentence for a disk that refuses.

What is written gathers under a temporary name beside its target, goes through to the disk, and gets its own name in
one rename. The writer keeps a lock on the temporary file or folder while it lives, so that
:func:`remove_leftovers` can tell what a killed process left from what another one is still writing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from unknot.errors import DiskError

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file size limit is reached",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "writing there is not permitted",
    errno.EPERM: "writing there is not permitted",
    errno.ENOTDIR: "a file stands where a folder should be",
    errno.EEXIST: "a file stands where a folder should be",
    errno.EISDIR: "it is a folder",
    errno.ENOTEMPTY: "it is there already and not empty",
}
_ELSEWHERE = "choose a folder that can be written"
_ADVICE = {
    errno.ENOSPC: f"free some space, or {_ELSEWHERE}",
    errno.EDQUOT: f"free some space, or {_ELSEWHERE}",
    errno.EFBIG: "raise it",
    errno.EISDIR: "name a file in it",
}
_REPLACED = ".replaced"  # the ending of a folder that was moved away for its successor
_HERE, _SWAP = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2


def disk_error(path: Path, error: OSError) -> DiskError:
    """The DiskError for a failed write: names the file, the reason and what to do.

    >>> str(disk_error(Path("table.csv"), OSError(errno.ENOSPC, "")))
    'Could not write table.csv: the disk is full; free some space, or choose a folder that can be written.'
    """
    code = error.errno or 0
    reason = _REASONS.get(code, error.strerror or str(error))
    return DiskError(str(path), reason, _ADVICE.get(code, _ELSEWHERE))


@contextlib.contextmanager
def explaining(path: Path) -> Iterator[None]:
    """While ``path`` is made or written: an OSError becomes the sentence that names it."""
    try:
        yield
    except OSError as error:
        raise disk_error(path, error) from error


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, where they are not there yet."""
    with explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)


def write_file(target: Path, content: bytes) -> None:
    """The file ``target`` with this content, whole or not at all; an older one is replaced."""
    with atomic_file(target) as stream:
        stream.write(content)


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[IO[bytes]]:
    """A binary stream whose content becomes ``target`` when the block ends well; an older file is replaced.

    If anything fails the temporary file is removed and an older ``target`` stays as it was. ``stream.name`` is the
    temporary file, so that the block can verify what lies on the disk.
    """
    with explaining(target), contextlib.ExitStack() as undo:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary, holder = _held(target, _open_new_file)
        undo.callback(os.close, holder)
        undo.callback(_remove, temporary)
        with temporary.open("w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
        _flush(target.parent)


def write_folder(target: Path, files: Mapping[str, bytes], replace: bool = False) -> None:
    """Several files that belong together, by name or path: all of them appear, under ``target``, in one rename."""
    with atomic_folder(target, replace) as folder:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


@contextlib.contextmanager
def atomic_folder(target: Path, replace: bool = False) -> Iterator[Path]:
    """An empty folder whose content becomes the folder ``target`` when the block ends well.

    A ``target`` that has anything in it is refused, unless ``replace`` says that it is the caller's own: then the
    two change places in one step, where the system can do that; else the old one is moved away, complete, just
    before the new one takes its name (:func:`bring_back` undoes a kill in between). Two processes that make the
    same new folder at once: one of them is refused.
    """
    with explaining(target), contextlib.ExitStack() as undo:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary, holder = _held(target, _open_new_folder)
        undo.callback(os.close, holder)
        undo.callback(_remove, temporary)
        yield temporary
        for folder, _, names in os.walk(temporary, topdown=False):
            for name in names:
                _flush(Path(folder, name))
            _flush(Path(folder))
        if replace and target.is_dir():  # a file of that name is not ours to replace
            if not _swapped(temporary, target):
                _exchange(temporary, target)
        else:
            temporary.rename(target)  # takes the place of an empty folder; one with content is an error
        _flush(target.parent)


def remove_leftovers(folder: Path) -> None:
    """Tidy a folder after a killed process; what a living one is writing stays.

    Half-written files and folders are removed. A folder that was moved away and never replaced comes back.
    """
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):  # gone meanwhile, or not ours to open
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _locked(handle):
                    _remove(path)
            finally:
                os.close(handle)
    for path in folder.glob(f".*{_REPLACED}"):
        target = path.with_name(path.name.removeprefix(".").removesuffix(_REPLACED))
        bring_back(target)
        _remove(path)


def bring_back(target: Path) -> None:
    """A folder that was moved away by a process that was killed before its successor came, under its own name."""
    with contextlib.suppress(OSError):
        if not target.exists():
            _moved_away(target).rename(target)


@contextlib.contextmanager
def lock(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock file ``path``; freed when the holder ends, even killed.

    A second process waits; or, with ``wait`` off, gets False at once instead of True.
    """
    from filelock import FileLock, Timeout

    holder = FileLock(path)
    with explaining(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(Timeout):
            holder.acquire(timeout=-1 if wait else 0)
    try:
        yield holder.is_locked
    finally:
        holder.release()


# ---- temporary names ----------------------------------------------------------------------------------


def _held(target: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """A new temporary file or folder beside ``target``, and a handle that keeps it locked until it is closed."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        handle = make(temporary)
        if _locked(handle) and temporary.exists():
            return temporary, handle
        os.close(handle)  # somebody cleaned up in the instant before it was locked: take another name


def _locked(handle: int) -> bool:
    """Whether the file or folder is ours now; a disk that knows no locks makes no difference."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _open_new_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)


def _open_new_folder(path: Path) -> int:
    path.mkdir()
    return os.open(path, os.O_RDONLY)


def _swapped(new: Path, target: Path) -> bool:
    """Whether the two folders have changed places, in one step: Linux can, on most of its file systems."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(swap(_HERE, os.fsencode(new), _HERE, os.fsencode(target), _SWAP) == 0)


def _moved_away(target: Path) -> Path:
    return target.with_name(f".{target.name}{_REPLACED}")


def _exchange(new: Path, target: Path) -> None:
    """The new folder in place of the old one, which is removed last."""
    old = _moved_away(target)
    _remove(old)
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        with contextlib.suppress(OSError):
            old.rename(target)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    """Remove a temporary file or folder, if it is still there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _flush(path: Path) -> None:
    """Wait until what was written to a file, or renamed in a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
