"""Tables as data sets: label columns as factors, the others as data; or one column of texts, counted word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from unknot.data.dataset import Dataset, training_rows
from unknot.data.from_arrays import from_arrays
from unknot.data.readers.column_kinds import (
    LEAVE_OUT,
    TEXT,
    WordsNeeded,
    identifiers,
    is_text,
    read_columns,
    without_odd_cells,
)
from unknot.data.readers.labels import table_labels
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.table_cells import TableCells, read_cells, stored_cells
from unknot.data.readers.table_files import open_table
from unknot.data.readers.texts import make_texts
from unknot.data.stored_items import StoredItems
from unknot.data.text_dataset import TextDataset
from unknot.errors import DataError

_PREDICTED = (" probability", " set", " low", " high")  # of a label, in a table of earlier predictions


def read_table(
    path: Path, options: ReadOptions, with_others: bool = False
) -> tuple[Dataset, dict[str, list[str]]]:
    """Read a table, once.

    Parameters
    ----------
    path : Path
        A CSV, TSV, Parquet or Feather file.
    options : ReadOptions
        Labels, kinds and columns.
    with_others : bool, default=False
        Whether to return the cells of other columns too.

    Returns
    -------
    data : Dataset
        Labels as factors, the other columns as x ``(N, C)`` with NaN for missing cells; or a TextDataset.
    others : dict from name to list of str
        With ``with_others``, the cells of the columns that are neither data nor label of ``options.like``.
    """
    columns, like = options.columns, options.like
    opened = partial(open_table, path, [name for name, kind in columns.items() if kind == LEAVE_OUT])
    source = opened()
    for name in columns:
        if name not in source.file_names:
            raise DataError(f"{path} has no column '{name}'; it has {', '.join(source.file_names)}.")
    others = _other_columns(source.names, like) if with_others else []
    keep = {name for name, kind in columns.items() if kind in ("category", TEXT)} | set(others)
    keep |= {column.origin for column in (like.table if like is not None else ()) if column.needs_words}
    is_stored = options.should_memmap(source.nbytes)
    while True:
        cells = stored_cells(path, opened, keep) if is_stored else read_cells(source, keep)
        try:
            text = _text_column(path, cells, options)
            data = (
                _table_of(path, cells, options, is_stored)
                if text is None
                else _texts_of(path, cells, text, options)
            )
            return data, {name: [word or "" for word in cells.words(name)] for name in others}
        except WordsNeeded as error:
            keep.add(error.name)


def _other_columns(names: Sequence[str], like: Dataset | None) -> list[str]:
    """Return the columns that are neither data nor label, nor those of an earlier prediction."""
    if like is None:
        return []
    ours = {column.origin for column in like.table} | set(like.factors) | set(like.given)
    ours |= {"novelty", *(f"{name}{more}" for name in like.factors for more in _PREDICTED)}
    for name, factor in like.factors.items():
        for depth in range(1, factor.tree.depth if factor.tree else 0):
            ours |= {f"{name} depth {depth}", f"{name} depth {depth} probability"}
    return [name for name in names if name not in ours]


def _table_of(path: Path, cells: TableCells, options: ReadOptions, is_stored: bool) -> Dataset:
    columns, like = options.columns, options.like
    if like is not None and not like.table:
        raise DataError(
            f"{path} is a table, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    splits = options.split(len(cells))
    training = training_rows(splits, len(cells))
    labels = table_labels(path, cells, options, training)
    raters = {name for names in options.raters.values() for name in names}
    data = [name for name in cells.columns if name not in labels and name not in raters]
    known = like.table if like is not None else ()
    table, rows = read_columns(str(path), cells, columns, known, data, training, errors=options.errors)
    odd_rows, values = rows.odd_rows, None if is_stored else rows.array()
    if values is not None and options.errors == "warn":
        values, others = without_odd_cells(values, table, str(path), first=2)
        odd_rows = tuple(sorted({*odd_rows, *others}))
    items = from_arrays(
        StoredItems([rows], where=str(path)) if values is None else values,
        labels,
        kinds=options.kinds_of(labels),
        classes=options.classes_of(labels),
        splits=splits,
        name=path.stem,
        missing=True,
    )
    names = tuple(column.name for column in table)
    return replace(items, table=table, columns=names, odd_rows=odd_rows)


def _text_column(path: Path, cells: TableCells, options: ReadOptions) -> str | None:
    """Return the column of a table of nothing but texts; None of a table with other data.

    For a model of texts it is the column with most words. Columns that only tell rows apart are no data.
    """
    declared = [name for name, kind in options.columns.items() if kind == TEXT]
    if isinstance(options.like, TextDataset):
        return declared[0] if declared else max(cells.columns, key=lambda name: _count_words(cells, name))
    if options.like is not None:
        return None
    training = training_rows(options.split(len(cells)), len(cells))
    labels = {*(options.factors or ()), *(name for names in options.raters.values() for name in names)}
    rest = [name for name in cells.columns if name not in labels]
    counts = cells.counts(training)
    texts = [name for name in rest if name in declared or is_text(cells, name, counts[name])]
    if len(texts) != 1:
        return None
    others = [name for name in rest if name not in texts]
    undeclared = [name for name in others if name not in options.columns]
    known = identifiers(str(path), cells, undeclared, training) if undeclared else set()
    return texts[0] if set(others) <= known else None


def _count_words(cells: TableCells, name: str) -> int:
    if cells.columns[name].numeric:
        return 0
    return sum(len(word.split()) for word in cells.words(name) if word is not None)


def _texts_of(path: Path, cells: TableCells, column: str, options: ReadOptions) -> TextDataset:
    """Return the texts of a column with the labels beside it; an empty cell is an empty text."""
    if cells.columns[column].numeric:
        raise WordsNeeded(column)
    splits = options.split(len(cells))
    labels = table_labels(path, cells, options, training_rows(splits, len(cells)))
    return make_texts(path, [word or "" for word in cells.words(column)], labels, options, splits)
