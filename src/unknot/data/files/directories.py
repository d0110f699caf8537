"""Where data sets are looked for: the user's data directory, then the cache."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from unknot.errors import DataError, DiskError


def data_directory(given: str | Path | None = None) -> Path | None:
    """The user's own folder of data files: the argument, else UNKNOT_DATA, else none.

    Unknot reads there and never writes. A folder that was named but does not exist is an error: going on to
    download what the user already has would be worse.
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
    """Where fetched and decoded files lie: UNKNOT_CACHE, XDG_CACHE_HOME/unknot, ~/.cache/unknot."""
    if chosen := os.environ.get("UNKNOT_CACHE"):
        return Path(chosen).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg).expanduser() / "unknot"
    return Path.home() / ".cache" / "unknot"


@contextlib.contextmanager
def advising_cache() -> Iterator[None]:
    """While the cache is written: a disk that refuses is answered with the variable that moves the cache."""
    try:
        yield
    except DiskError as error:
        raise DiskError(
            error.path, error.reason, f"{error.advice} (for the cache, set UNKNOT_CACHE)"
        ) from error
