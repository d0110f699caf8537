"""A found form of a data set for tests that call a reader directly on small files they made."""

from __future__ import annotations

from pathlib import Path

from unknot.data.files.catalogue import Entry, Files


def found(entry: Entry, form: str, folder: Path) -> Files:
    """The named form of `entry` as if its files had been found, unverified, in `folder`."""
    chosen = next(candidate for candidate in entry.forms if candidate.name == form)
    paths = {file.name: folder / file.name for file in chosen.files}
    return Files(entry, chosen, paths, "data directory", folder / "derived")
