"""Labels of the files in a folder: by a table ``labels.csv``, or by the sub-folders they lie in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unknot.data.dataset import Dataset
from unknot.data.deciding_rows import deciding_rows
from unknot.data.factor import Kind
from unknot.data.user.csv_rows import read_rows
from unknot.data.user.label_cells import read_labels, wanted_names
from unknot.errors import DataError

LABELS = "labels.csv"
FOLDER_FACTOR = "label"  # what sub-folders say, where nobody names it
_PARTS = {"train", "test"}  # sub-folders that are the two splits


def folder_labels(
    folder: Path,
    names: Sequence[str],
    factors: Sequence[str] | None,
    like: Dataset | None,
    kinds: Mapping[str, Kind] | None = None,
    splits: Mapping[str, Any] | None = None,
) -> dict[str, list[Any]]:
    """Labels of files by their paths from the folder.

    They are those of ``labels.csv`` by file name, and files that it does not name are unlabeled. Without that table
    the sub-folders are the classes of one factor, and files beside them are unlabeled. ``train`` and ``test`` above
    them are the two splits, no classes. Those kept for the test by ``splits`` do not tell what labels are.
    """
    if (folder / LABELS).exists():
        deciding = dict(zip(names, deciding_rows(splits or {}, len(names)).tolist(), strict=True))
        return _table_labels(folder / LABELS, names, factors, like, kinds or {}, deciding)
    below = {name.split("/")[0] for name in names} <= _PARTS  # also where there is only one of the two
    return _sub_folder_labels(folder, names, below, factors, like)


def _table_labels(
    table: Path,
    names: Sequence[str],
    factors: Sequence[str] | None,
    like: Dataset | None,
    kinds: Mapping[str, Kind],
    deciding: Mapping[str, bool],
) -> dict[str, list[Any]]:
    content = read_rows(table)
    if "file" not in content:
        raise DataError(f"{table}: needs a column 'file' with the files' names.")
    row_of = {name: row for row, name in enumerate(content["file"])}
    if len(row_of) != len(content["file"]):
        raise DataError(f"{table} names a file twice.")
    there = set(names)
    for name in row_of:
        if name not in there:
            raise DataError(f"{table} speaks of {name}, which is not in the folder.")
    found = {}
    for factor in wanted_names(table, [n for n in content if n != "file"], factors, like):
        told = [deciding[str(name)] for name in content["file"]]
        numbers = kinds.get(factor) == "continuous"
        values = read_labels(content[factor], told, numbers, f"{table}, column '{factor}'")
        found[factor] = [values[row_of[name]] if name in row_of else None for name in names]
    return found


def folder_splits(names: Sequence[str]) -> dict[str, list[int]] | None:
    """The rows of the two splits, if all files lie below folders "train" and "test"."""
    parts = [name.split("/")[0] for name in names]
    if set(parts) != _PARTS:
        return None
    return {part: [row for row, of in enumerate(parts) if of == part] for part in sorted(_PARTS)}


def _sub_folder_labels(
    folder: Path, names: Sequence[str], split: bool, factors: Sequence[str] | None, like: Dataset | None
) -> dict[str, list[Any]]:
    """One factor from the sub-folders that files lie in, if there are several."""
    parts = [name.split("/")[split:] for name in names]
    classes = [part[0] if len(part) > 1 else None for part in parts]
    known = list(like.factors) if like is not None else []
    named = list(factors) if factors else known[:1] or [FOLDER_FACTOR]
    if len(set(classes) - {None}) > 1 and len(named) == 1:
        return {named[0]: classes}
    if factors:
        raise DataError(
            f"{folder} has no {LABELS} and no sub-folder for each class, so there are no labels of "
            f"{', '.join(factors)}."
        )
    return {}
