"""A column of texts in a .csv table: the one that is declared, or the only one beside the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from unknot.data.dataset import Dataset
from unknot.data.deciding_rows import deciding_rows
from unknot.data.text_dataset import TextDataset
from unknot.data.user.csv_rows import CsvRows, read_rows
from unknot.data.user.label_cells import read_labels, wanted_names
from unknot.data.user.table_kinds import LEAVE_OUT
from unknot.data.user.texts import make_texts
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError

TEXT = "text"  # the kind of a column that is counted word by word
_WORDS = 3  # a column with more words a cell, on average, is text rather than names


def text_column(
    path: Path, factors: Sequence[str] | None, columns: Mapping[str, str] | None, like: Dataset | None
) -> str | None:
    """The name of the column whose cells are texts; None if the table is one of numbers and categories.

    It is the one whose kind is declared as "text". Where nothing is declared, it is the only column beside the
    labels, if its cells are of several words and no two of them alike; for a model of texts, the one with most words.
    """
    if not path.is_file():
        return None
    declared = [name for name, kind in (columns or {}).items() if kind == TEXT]
    if len(declared) > 1:
        raise DataError(f"{path}: one column can be text, but {', '.join(declared)} are declared.")
    if declared:
        return declared[0]
    if isinstance(like, TextDataset):
        content = read_rows(path)
        return max(content, key=lambda name: _words(content[name]))
    named = set(factors or ()) | {n for n, kind in (columns or {}).items() if kind == LEAVE_OUT}
    rest = [name for name in CsvRows(path).names if name not in named]
    return rest[0] if len(rest) == 1 and _is_text(read_rows(path)[rest[0]]) else None


def _is_text(cells: Sequence[str | None]) -> bool:
    present = [cell for cell in cells if cell is not None]
    return len(set(present)) == len(present) > 0 and _words(present) > _WORDS * len(present)


def _words(cells: Sequence[str | None]) -> int:
    return sum(len(cell.split()) for cell in cells if cell is not None)


def read_text_column(path: Path, column: str, wanted: Wanted) -> TextDataset:
    """The texts of a column, with the label columns that are ``wanted``; an empty cell is an empty text."""
    content = read_rows(path)
    if column not in content:
        raise DataError(f"{path} has no column '{column}'; it has {', '.join(content)}.")
    named = wanted_names(path, list(content), wanted.named_factors, wanted.like)
    texts = [cell or "" for cell in content[column]]
    splits = wanted.split(len(texts))
    told = deciding_rows(splits, len(texts))
    numbers = {name for name, kind in wanted.kinds.items() if kind == "continuous"}
    labels = {
        name: read_labels(content[name], told, name in numbers, f"{path}, column '{name}'") for name in named
    }
    return make_texts(path, texts, labels, wanted, splits)
