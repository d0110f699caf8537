"""A folder of texts, labeled by a table or by the sub-folders they lie in."""

from __future__ import annotations

from pathlib import Path

from unknot.data.files.special_file import refuse_special_file
from unknot.data.text_dataset import TextDataset
from unknot.data.user.folder_labels import folder_labels, folder_splits
from unknot.data.user.texts import make_texts
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError

_ENDING = ".txt"


def read_text_folder(folder: Path, wanted: Wanted) -> TextDataset:
    """All .txt files below a folder, in the order of their names; UTF-8, or else Latin-1, which any bytes are.

    Labels and splits are told by ``labels.csv`` or by sub-folders (:mod:`unknot.data.user.folder_labels`).
    """
    names = text_names(folder)
    splits = folder_splits(names) or wanted.split(len(names))
    labels = folder_labels(folder, names, wanted.factors, wanted.like, wanted.kinds, splits)
    texts = [_read(folder / name) for name in names]
    return make_texts(folder, texts, labels, wanted, splits)


def text_names(folder: Path) -> list[str]:
    """The texts below a folder, by their paths from it, in the order in which they are read."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() == _ENDING)
    if not paths:
        raise DataError(f"{folder} holds no texts ({_ENDING}).")
    return [p.relative_to(folder).as_posix() for p in paths]


def has_texts(folder: Path) -> bool:
    """Whether there are texts below a folder."""
    return any(p.suffix.lower() == _ENDING for p in folder.rglob("*"))


def _read(path: Path) -> str:
    refuse_special_file(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
