"""Labels in users' files: columns of tables, and the labels of a folder by a table or by sub-folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset, training_rows
from unknot.data.label_evidence import Votes
from unknot.data.readers.column_kinds import WordsNeeded
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.table_cells import TableCells, read_cells
from unknot.data.readers.table_files import CsvSource
from unknot.errors import DataError

LABELS = "labels.csv"
FOLDER_FACTOR = "label"  # the factor that sub-folders are the classes of, unless it is named
_FILE_COLUMNS = ("filename", "file_name", "path", "image", "picture", "name", "id")  # tried before others
_SPLITS = {"train", "test"}  # sub-folders that are the two splits
_EXACT = 2**53  # not all whole numbers beyond are floats


def factor_names(
    where: Path, available: Sequence[str], factors: Sequence[str] | None, like: Dataset | None
) -> list[str]:
    """Return which of the available names are factors: those named, or those of ``like``, or all."""
    if factors is None:
        return [name for name in available if like is None or name in like.factors or name in like.given]
    for name in factors:
        if name not in available:
            raise DataError(f"{where} has no labels of '{name}'; it has {', '.join(available) or 'none'}.")
    return list(factors)


def read_labels(
    cells: Sequence[str | None],
    training: Sequence[bool] | np.ndarray | None = None,
    numbers: bool = False,
    where: str = "labels",
) -> list[Any]:
    """Read the cells of a label column as whole numbers, numbers or words.

    Parameters
    ----------
    cells : sequence of str or None
        None where a label is missing.
    training : sequence of bool, optional
        The cells that decide the type; another cell that is not of it is refused. Default: all.
    numbers : bool, default=False
        Whether labels are numbers, whole or not.
    where : str
        The beginning of messages.

    Returns
    -------
    list of int, float or str, with None where missing
    """
    decides = [True] * len(cells) if training is None else training
    for kind in (float,) if numbers else (int, float):
        if not all(_is(kind, cell) for cell, counts in zip(cells, decides, strict=True) if counts):
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


def label_values(where: str, cells: TableCells, name: str, kind: str | None, training: np.ndarray) -> Any:
    """Return the labels in a column of a table, one for each row.

    Parameters
    ----------
    where : str
        The table, for messages.
    cells : TableCells
        What has been read.
    name : str
        The column.
    kind : str, optional
        The kind of the factor, where it is declared.
    training : ndarray of bool, shape (N,)
        The rows that decide the type.

    Returns
    -------
    masked array, or array of floats with NaN, or of objects with None where missing
    """
    column = cells.columns[name]
    numbers = np.array(cells.numbers[:, cells.position(name)])
    is_missing = np.isnan(numbers)
    where = f"{where}, column '{name}'"
    if column.numeric:
        if column.strays:
            raise WordsNeeded(name)
        if not column.whole:
            return numbers
        if np.abs(numbers[~is_missing]).max(initial=0) >= _EXACT:
            raise DataError(f"{where}: labels of more than 15 digits are neither classes nor numbers.")
        return np.ma.MaskedArray(np.where(is_missing, 0, numbers).astype(np.int64), is_missing)
    codes = np.where(is_missing, 0, numbers).astype(np.int64)
    is_used = np.zeros(max(1, len(column.words)), dtype=bool)
    is_used[codes[training & ~is_missing]] = True
    labels = read_labels(column.words, is_used[: len(column.words)], kind == "continuous", where)
    if not labels:
        return numbers  # every label is missing
    if all(isinstance(label, int) and abs(label) < 2**63 for label in labels):
        return np.ma.MaskedArray(np.array(labels, dtype=np.int64)[codes], is_missing)
    if all(isinstance(label, float) for label in labels):
        return np.where(is_missing, np.nan, np.array(labels)[codes])
    values = np.empty(len(labels), dtype=object)  # words, and whole numbers that are too large
    values[:] = labels
    chosen = values[codes]
    chosen[is_missing] = None
    return chosen


def table_labels(path: Path, cells: TableCells, options: ReadOptions, training: np.ndarray) -> dict[str, Any]:
    """Return the labels in the columns of a table by factor; those of several raters as votes.

    Parameters
    ----------
    path : Path
        The table, for messages.
    cells : TableCells
        What has been read.
    options : ReadOptions
        The factors, and the columns of their raters.
    training : ndarray of bool, shape (N,)
        The rows that decide the types.
    """

    def column(name: str, factor: str) -> Any:
        return label_values(str(path), cells, name, options.kinds.get(factor), training)

    available = list(cells.columns)
    raters = [name for names in options.raters.values() for name in names]
    factor_names(path, available, raters, None)
    named = options.named_factors
    if named is not None:
        named = [name for name in named if name in available or name not in options.raters]
    factors = [name for name in factor_names(path, available, named, options.like) if name not in raters]
    if options.errors:  # of new data to predict labels are no matter
        given = () if options.like is None else options.like.given
        factors = [name for name in factors if name in given]
    labels = {name: column(name, name) for name in factors}
    for factor, names in options.raters.items():
        labels[factor] = Votes({name: column(name, factor) for name in names}, labels.get(factor))
    return labels


def folder_labels(
    folder: Path, names: Sequence[str], options: ReadOptions, splits: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the labels of the files in a folder.

    They are those of ``labels.csv`` by file name; files that it does not name are unlabeled. Its column of file names
    is called "file", or all cells of the column name files, with or without their ending. Without that table the
    sub-folders are the classes of one factor, and files beside them are unlabeled. ``train`` and ``test`` above them
    are the two splits, not classes.

    Parameters
    ----------
    folder : Path
        The folder.
    names : sequence of str
        The files, by their paths from the folder.
    options : ReadOptions
        The factors, their kinds, and data with the same factors.
    splits : mapping from split to rows
        Files of the test split do not decide the type of the labels.
    """
    if (folder / LABELS).exists():
        return _table_labels(folder / LABELS, names, options, training_rows(splits, len(names)))
    below = {name.split("/")[0] for name in names} <= _SPLITS  # also where there is only one of the two
    return _sub_folder_labels(folder, names, below, options)


def folder_splits(names: Sequence[str]) -> dict[str, list[int]] | None:
    """Return the rows of the two splits, if all files lie below folders "train" and "test"."""
    parts = [name.split("/")[0] for name in names]
    if set(parts) != _SPLITS:
        return None
    return {split: [row for row, part in enumerate(parts) if part == split] for split in sorted(_SPLITS)}


def _table_labels(
    table: Path, names: Sequence[str], options: ReadOptions, training: np.ndarray
) -> dict[str, list[Any]]:
    source = CsvSource(table)
    cells = read_cells(source, keep=source.names)
    content = {name: cells.words(name) for name in source.names}
    column = _file_column(table, content, names)
    files = _full_names(content[column], names)
    row_of = {name: row for row, name in enumerate(files)}
    if len(row_of) != len(files):
        raise DataError(f"{table} names a file twice.")
    decides = dict(zip(names, training.tolist(), strict=True))
    for name in row_of:
        if name not in decides:
            raise DataError(f"{table} names {name}, which is not in the folder.")
    labels = {}
    for factor in factor_names(table, [n for n in content if n != column], options.factors, options.like):
        is_training = [decides[str(name)] for name in files]
        is_number = options.kinds.get(factor) == "continuous"
        values = read_labels(content[factor], is_training, is_number, f"{table}, column '{factor}'")
        labels[factor] = [values[row_of[name]] if name in row_of else None for name in names]
    return labels


def _file_column(table: Path, content: Mapping[str, Sequence[str | None]], names: Sequence[str]) -> str:
    """Return the column of file names: "file", or one whose cells all name files."""
    if "file" in content:
        return "file"
    usual = sorted(
        content, key=lambda column: (column.lower() not in _FILE_COLUMNS, list(content).index(column))
    )
    for column in usual:
        if set(_full_names(content[column], names)) <= set(names):
            return column
    raise DataError(
        f"{table}: needs a column with the files' names, for example 'file'; it has {', '.join(content)}."
    )


def _full_names(cells: Sequence[str | None], names: Sequence[str]) -> list[str]:
    """Return the files that cells name, also without folder or ending where that names one file; else the cell."""
    short: dict[str, set[str]] = {}
    for name in names:
        for form in (Path(name).name, Path(name).stem, str(Path(name).with_suffix(""))):
            short.setdefault(form, set()).add(name)
    full = set(names)
    made = []
    for cell in map(str, cells):
        files = {cell} if cell in full else short.get(cell) or short.get(Path(cell).name) or {cell}
        made.append(next(iter(files)) if len(files) == 1 else cell)
    return made


def _sub_folder_labels(
    folder: Path, names: Sequence[str], split: bool, options: ReadOptions
) -> dict[str, list[Any]]:
    """Return one factor from the sub-folders that files lie in, if there are several."""
    parts = [name.split("/")[split:] for name in names]
    classes = [part[0] if len(part) > 1 else None for part in parts]
    known = list(options.like.factors) if options.like is not None else []
    factors = list(options.factors) if options.factors else known[:1] or [FOLDER_FACTOR]
    if len(set(classes) - {None}) > 1 and len(factors) == 1:
        return {factors[0]: classes}
    if options.factors:
        raise DataError(
            f"{folder} has no {LABELS} and no sub-folder for each class, so there are no labels of "
            f"{', '.join(options.factors)}."
        )
    return {}


def _is(kind: type, cell: str | None) -> bool:
    try:
        return cell is None or kind(cell) is not None
    except ValueError:
        return False
