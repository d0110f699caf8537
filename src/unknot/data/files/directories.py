"""The folders of data files: the user's data directory and the cache."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from unknot.errors import DataError, DiskError


def data_directory(given: str | Path | None = None) -> Path | None:
    """Return the user's own folder of data files: the argument, else UNKNOT_DATA, else None.

    Unknot only reads there. A folder that is named but does not exist is an error, since the user would not want to
    download the files again.
    """
    named = given if given is not None else os.environ.get("UNKNOT_DATA") or None
    if named is None:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        origin = "--data-dir" if given is not None else "the variable UNKNOT_DATA"
        raise DataError(
            f"The data directory {folder} (from {origin}) is not a folder: correct the path, or leave it out."
        )
    return folder


def cache_directory() -> Path:
    """Return the folder of fetched and decoded files: UNKNOT_CACHE, XDG_CACHE_HOME/unknot or ~/.cache/unknot."""
    if chosen := os.environ.get("UNKNOT_CACHE"):
        return Path(chosen).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg).expanduser() / "unknot"
    return Path.home() / ".cache" / "unknot"


@contextlib.contextmanager
def advising_cache() -> Iterator[None]:
    """Add to disk errors, while the cache is written, the variable that moves the cache."""
    try:
        yield
    except DiskError as error:
        raise DiskError(
            error.path, error.reason, f"{error.advice} (for the cache, set UNKNOT_CACHE)"
        ) from error
