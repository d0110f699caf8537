"""Files that appear whole or not at all, and a lock so that one process at a time makes them."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from unknot.errors import DataError

_CHOOSE = "choose a folder that can be written (for the cache, set UNKNOT_CACHE)"
_ADVICE = {
    errno.ENOSPC: f"the disk is full; free some space, or {_CHOOSE}",
    errno.EDQUOT: f"the disk quota is used up; free some space, or {_CHOOSE}",
    errno.EFBIG: "the file size limit is reached; raise it",
    errno.EROFS: f"the disk is read-only; {_CHOOSE}",
    errno.EACCES: f"writing there is not permitted; {_CHOOSE}",
    errno.EPERM: f"writing there is not permitted; {_CHOOSE}",
}


def disk_error(path: Path, error: OSError) -> DataError:
    """The DataError for a failed write: names the file and what to do."""
    advice = _ADVICE.get(error.errno or 0, f"{error.strerror or error}; {_CHOOSE}")
    return DataError(f"Could not write {path}: {advice}.")


def make_folder(folder: Path) -> None:
    """Make `folder` and its parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(folder, error) from error


@contextlib.contextmanager
def atomic_write(target: Path) -> Iterator[IO[bytes]]:
    """A binary stream whose content becomes `target` when the block ends well.

    The bytes go to a temporary file in the same folder, are flushed to the disk and renamed over `target`.
    If anything fails the temporary file is removed and an older `target` stays as it was.
    """
    make_folder(target.parent)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        with temporary.open("w+b") as stream:  # by name, so that the block can verify the file on the disk
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o644)  # mkstemp makes private files; a cache may be shared
        temporary.replace(target)
        temporary = None
    except OSError as error:
        raise disk_error(target, error) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


@contextlib.contextmanager
def lock(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock `name` of `folder`; a second process waits. Freed when the holder ends, even killed."""
    from filelock import FileLock

    make_folder(folder)
    path = folder / f".{name}.lock"
    holder = FileLock(path)
    try:
        holder.acquire()
    except OSError as error:
        raise disk_error(path, error) from error
    try:
        yield
    finally:
        holder.release()
