"""Files and folders that appear whole or not at all, locks, and messages about disk errors.

Content is written under a temporary name beside its target, flushed to the disk, and renamed. The writer holds a lock
on the temporary file or folder, so that :func:`remove_leftovers` can distinguish what a killed process left from what
another process is still writing.
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
_REPLACED = ".replaced"  # the ending of a folder that was moved away to be replaced
_HERE, _SWAP = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2


def disk_error(path: Path, error: OSError) -> DiskError:
    """Return the error for a failed write, with the file, the reason and what to do.

    >>> str(disk_error(Path("table.csv"), OSError(errno.ENOSPC, "")))
    'Could not write table.csv: the disk is full; free some space, or choose a folder that can be written.'
    """
    code = error.errno or 0
    reason = _REASONS.get(code, error.strerror or str(error))
    return DiskError(str(path), reason, _ADVICE.get(code, _ELSEWHERE))


@contextlib.contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn an OSError, while ``path`` is made or written, into a DiskError that names it."""
    try:
        yield
    except OSError as error:
        raise disk_error(path, error) from error


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless they exist."""
    with explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)


def write_file(target: Path, content: bytes) -> None:
    """Write a file, whole or not at all; an older one is replaced."""
    with atomic_file(target) as stream:
        stream.write(content)


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[IO[bytes]]:
    """Yield a binary stream whose content becomes ``target`` when the block succeeds; an older file is replaced.

    On failure the temporary file is removed and an older ``target`` is unchanged. ``stream.name`` is the temporary
    file, so that the block can verify it.
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
    """Write several files, by name or path, that appear together under ``target`` in one rename."""
    with atomic_folder(target, replace) as folder:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


@contextlib.contextmanager
def atomic_folder(target: Path, replace: bool = False) -> Iterator[Path]:
    """Yield an empty folder whose content becomes the folder ``target`` when the block succeeds.

    If two processes make the same new folder at once, one of them gets an error.

    Parameters
    ----------
    target : Path
        The folder.
    replace : bool, default=False
        Whether a ``target`` with content is replaced instead of refused. The two are exchanged in one step where the
        system supports it; otherwise the old folder is moved away just before the new one gets its name, and
        :func:`bring_back` restores it if the process is killed in between.
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
        if replace and target.is_dir():  # never a file of that name
            if not _swapped(temporary, target):
                _exchange(temporary, target)
        else:
            temporary.rename(target)  # replaces an empty folder; a folder with content is an error
        _flush(target.parent)


def remove_leftovers(folder: Path) -> None:
    """Clean a folder after a killed process; what a running process is writing stays.

    Incomplete files and folders are removed. A folder that was moved away and not replaced is restored.
    """
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):  # removed meanwhile, or without permission
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
    """Restore a folder that was moved away by a process that was killed before it was replaced."""
    with contextlib.suppress(OSError):
        if not target.exists():
            _moved_away(target).rename(target)


@contextlib.contextmanager
def lock(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock file ``path``, which is released when the process ends, even if it is killed.

    Parameters
    ----------
    path : Path
        The lock file.
    wait : bool, default=True
        Whether to wait while another process holds the lock.

    Yields
    ------
    bool
        Whether the lock is held; False only without ``wait``.
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
    """Make a temporary file or folder beside ``target``; return it with a handle that locks it until it is closed."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        handle = make(temporary)
        if _locked(handle) and temporary.exists():
            return temporary, handle
        os.close(handle)  # removed by a cleanup just before it was locked: use another name


def _locked(handle: int) -> bool:
    """Lock a file or folder; return whether it succeeded. On disks without locks it always does."""
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
    """Exchange two folders in one step, which Linux can on most file systems; return whether it succeeded."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(swap(_HERE, os.fsencode(new), _HERE, os.fsencode(target), _SWAP) == 0)


def _moved_away(target: Path) -> Path:
    return target.with_name(f".{target.name}{_REPLACED}")


def _exchange(new: Path, target: Path) -> None:
    """Put the new folder in place of the old one, which is removed last."""
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
    """Remove a temporary file or folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _flush(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
