"""Cells of a label column as labels: whole numbers, numbers or words, as the training rows tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.user.table_cells import TableCells
from unknot.data.user.table_kinds import WordsNeeded
from unknot.errors import DataError

_EXACT = 2**53  # whole numbers beyond are not all floats


def wanted_names(
    path: Path, there: Sequence[str], factors: Sequence[str] | None, like: Dataset | None
) -> list[str]:
    """Which of the names that are ``there`` are factors: those named, or those of ``like``, or all."""
    if factors is None:
        return [name for name in there if like is None or name in like.factors]
    for name in factors:
        if name not in there:
            raise DataError(f"{path} has no labels of '{name}'; it has {', '.join(there) or 'none'}.")
    return list(factors)


def read_labels(
    cells: Sequence[str | None],
    deciding: Sequence[bool] | np.ndarray | None = None,
    numbers: bool = False,
    where: str = "labels",
) -> list[Any]:
    """Cells of a label column: whole numbers, numbers or words, None where empty.

    Of several types the one of the ``deciding`` cells holds; another cell that is not of it is refused. ``numbers``
    says that labels are numbers, whole or not.
    """
    told = [True] * len(cells) if deciding is None else deciding
    for kind in (float,) if numbers else (int, float):
        if not all(_is(kind, cell) for cell, tells in zip(cells, told, strict=True) if tells):
            continue
        for cell in cells:
            if not _is(kind, cell):
                what = "whole numbers" if kind is int else "numbers"
                raise DataError(
                    f"{where}: a row kept for the test has the label {cell!r}, where training rows have {what}; mend "
                    "the cell, or declare the kind of the labels."
                )
        return [None if cell is None else kind(cell) for cell in cells]
    return list(cells)


def label_values(where: str, cells: TableCells, name: str, kind: str | None, deciding: np.ndarray) -> Any:
    """The labels of a column, one for each row: a masked array, or one of objects with None where missing."""
    column = cells.columns[name]
    found = np.array(cells.numbers[:, cells.position(name)])
    absent = np.isnan(found)
    where = f"{where}, column '{name}'"
    if column.numeric:
        if column.strays:
            raise WordsNeeded(name)
        if not column.whole:
            return found
        if np.abs(found[~absent]).max(initial=0) >= _EXACT:
            raise DataError(f"{where}: labels of more than 15 digits are neither classes nor numbers.")
        return np.ma.MaskedArray(np.where(absent, 0, found).astype(np.int64), absent)
    codes = np.where(absent, 0, found).astype(np.int64)
    used = np.zeros(max(1, len(column.words)), dtype=bool)
    used[codes[deciding & ~absent]] = True
    labels = read_labels(column.words, used[: len(column.words)], kind == "continuous", where)
    if not labels:
        return found  # nothing is known
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    chosen = values[codes]
    chosen[absent] = None
    return _plain(chosen, labels, absent)


def _plain(chosen: np.ndarray, labels: Sequence[Any], absent: np.ndarray) -> Any:
    """Whole numbers and numbers in arrays of their own; words, and numbers that are too large, as they are."""
    if all(isinstance(label, int) and abs(label) < 2**63 for label in labels):
        return np.ma.MaskedArray(np.where(absent, 0, chosen).astype(np.int64), absent)
    if all(isinstance(label, float) for label in labels):
        return np.where(absent, np.nan, chosen).astype(np.float64)
    return chosen


def _is(kind: type, cell: str | None) -> bool:
    try:
        return cell is None or kind(cell) is not None
    except ValueError:
        return False
