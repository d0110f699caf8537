"""Files and folders of a run that appear whole or not at all, and stay after a power cut."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_file(target: Path, content: bytes) -> None:
    """Write beside the target, flush to the disk, rename over it, flush the folder."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            _write_through(stream.fileno(), content)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    flush_folder(target.parent)


def write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Several files that belong together: all of them appear, under ``target``, in one rename.

    A folder that stands there already is replaced; it is put out of the way only after the new one is
    complete on the disk.
    """
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    try:
        for name, content in files.items():
            handle = os.open(temporary / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            try:
                _write_through(handle, content)
            finally:
                os.close(handle)
        os.chmod(temporary, 0o755)
        flush_folder(temporary)
        if target.exists():
            shutil.rmtree(target)
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    flush_folder(target.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left half-written."""
    for path in folder.glob(".*.tmp"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make a rename in this folder last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_through(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]
    os.fsync(handle)
