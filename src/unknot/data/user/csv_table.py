"""Tables: a .csv file with a header, empty cells for what is missing."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from unknot.data.column import COLUMN_KINDS, Column, ColumnKind
from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.files.special_file import refuse_special_file
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError, UnknotWarning

LEAVE_OUT = "leave out"  # the kind of a column that is neither data nor label, a row number for instance
_MISSING = {"", "na", "nan", "none", "null", "?"}
_MANY_WORDS = 100  # a category with more different words is worth a word
_FEW_ROWS = 20  # in fewer rows words that are all different may still be a category
_STRAY_WORDS = 0.1  # a column with fewer words than this among its numbers has mistakes in it
_COMMA_NUMBER = re.compile(r"[-+]?\d+,\d+")


def read_rows(path: Path) -> dict[str, list[str | None]]:
    """The columns of a .csv file by name, None where a cell is empty."""
    refuse_special_file(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
            mark = _separator(text)
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a table in UTF-8 text: {error}.") from None
    if len(rows) < 2:
        raise DataError(f"{path} is empty: expected a header and at least one row.")
    header = [" ".join(name.split()) for name in rows[0]]  # a cell may have several lines, a name has one
    if len(set(header)) != len(header):
        raise DataError(f"{path}: two columns have the same name.")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"{path}, row {number}: {len(row)} cells under {len(header)} columns.")
    decimal = mark != ","  # where commas do not part cells they may part decimals
    return {name: [_cell(row[i].strip(), decimal) for row in rows[1:]] for i, name in enumerate(header)}


def _separator(text: str) -> str:
    """What parts the cells: the mark that the header has most of, a comma, a semicolon or a tab."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t", key=header.count)


def _cell(text: str, decimal_comma: bool) -> str | None:
    if text.lower() in _MISSING:
        return None
    return text.replace(",", ".") if decimal_comma and _COMMA_NUMBER.fullmatch(text) else text


def read_labels(cells: Sequence[str | None]) -> list[Any]:
    """Cells of a label column: whole numbers, numbers or words, None where empty."""
    present = [cell for cell in cells if cell is not None]
    for kind in (int, float):
        try:
            [kind(cell) for cell in present]
        except ValueError:
            continue
        return [None if cell is None else kind(cell) for cell in cells]
    return list(cells)


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


def read_csv_table(
    path: Path,
    factors: Sequence[str] | None,
    kinds: Mapping[str, Kind] | None,
    classes: Mapping[str, Sequence[Any]] | None,
    columns: Mapping[str, str] | None,
    like: Dataset | None,
) -> Dataset:
    """A table as a data set: label columns as factors, the others as x ``(N, C)`` with NaN for missing cells."""
    content, columns = read_rows(path), dict(columns or {})
    for name in columns:
        if name not in content:
            raise DataError(f"{path} has no column '{name}'; it has {', '.join(content)}.")
    named = wanted_names(path, list(content), factors or (None if like is not None else ()), like)
    labels = {name: read_labels(content[name]) for name in named}
    if like is not None and not like.table:
        raise DataError(
            f"{path} is a table, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    rest = [name for name in content if name not in labels and columns.get(name) != LEAVE_OUT]
    if like is not None:
        rest = [name for name in rest if name in {column.name for column in like.table}]
    table, x = read_columns(
        str(path), {n: content[n] for n in rest}, columns, like.table if like is not None else ()
    )
    kinds = {n: k for n, k in (kinds or {}).items() if n in labels}
    classes = {n: c for n, c in (classes or {}).items() if n in labels}
    data = from_arrays(x, labels, kinds=kinds, classes=classes, name=path.stem, missing=True)
    return replace(data, table=table, columns=tuple(column.name for column in table))


def read_columns(
    where: str,
    content: Mapping[str, Sequence[str | None]],
    kinds: Mapping[str, str],
    known: Sequence[Column] = (),
) -> tuple[tuple[Column, ...], np.ndarray]:
    """Cells as columns and numbers ``(N, C)``, NaN where missing; ``known`` columns are those of earlier data."""
    table = tuple(known)
    if not known:
        data = {n: cells for n, cells in content.items() if n in kinds or not _is_identifier(where, n, cells)}
        table = tuple(_describe(where, n, cells, kinds.get(n)) for n, cells in data.items())
    if not table:
        raise DataError(f"{where} has no columns of data.")
    for column in table:
        if column.name not in content:
            raise DataError(f"{where} has no column '{column.name}', which the model was trained on.")
    numbers = [_numbers(where, column, content[column.name]) for column in table]
    return table, np.stack(numbers, axis=1).astype(np.float32)


def _describe(path: str, name: str, cells: Sequence[str | None], kind: str | None) -> Column:
    """The column's kind: as declared, or words a category, 0 and 1 binary, anything else real."""
    present = [cell for cell in cells if cell is not None]
    if kind is not None and kind not in COLUMN_KINDS:
        kinds = ", ".join((*COLUMN_KINDS, LEAVE_OUT))
        raise DataError(f"{path}, column '{name}': kind is one of {kinds}, not {kind!r}.")
    if kind is None:
        kind = _inferred(path, name, cells)
    classes = tuple(sorted(set(present))) if kind == "category" else ()
    return Column(name, cast(ColumnKind, kind), classes)


def _inferred(path: str, name: str, cells: Sequence[str | None]) -> str:
    """Words are a category, 0 and 1 binary, other numbers real; a few words among numbers are a mistake."""
    strange = [row for row, cell in enumerate(cells) if cell is not None and not _is_number(cell)]
    present = [cell for cell in cells if cell is not None]
    if not strange:
        return "binary" if {float(cell) for cell in present} <= {0, 1} else "real"
    if len(strange) < _STRAY_WORDS * len(present):
        raise DataError(
            f"{path}, column '{name}', row {strange[0] + 2}: got {cells[strange[0]]!r} among numbers; mend or empty "
            f"the cell, or declare the column: columns {{'{name}': 'category'}}."
        )
    count = len(set(present))
    if count > _MANY_WORDS:
        warnings.warn(
            f"{path}, column '{name}' is taken as a category of {count} words; to leave it out, declare "
            f"columns {{'{name}': '{LEAVE_OUT}'}}.",
            UnknotWarning,
            stacklevel=2,
        )
    return "category"


def _is_identifier(path: str, name: str, cells: Sequence[str | None]) -> bool:
    """Whether a column only tells rows apart: another word in every row, or numbers under the name "id"."""
    present = [cell for cell in cells if cell is not None]
    if len(present) < max(len(cells), _FEW_ROWS) or len(set(present)) < len(present):
        return False
    called = name.lower() in ("", "id", "index") or name.lower().endswith(("_id", " id"))
    if any(_is_number(cell) for cell in present) and not called:
        return False
    warnings.warn(
        f"{path}, column '{name}' is different in every row and is left out; to keep it, declare its kind: "
        f"columns {{'{name}': 'category'}}.",
        UnknotWarning,
        stacklevel=2,
    )
    return True


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(path: str, column: Column, cells: Sequence[str | None]) -> np.ndarray:
    """Cells as numbers: a category's class index, NaN where missing."""
    index = {word: float(i) for i, word in enumerate(column.classes)}
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            numbers[row] = index[cell] if column.kind == "category" else float(cell)
        except (KeyError, ValueError):
            expected = f"one of {', '.join(column.classes)}" if column.kind == "category" else "a number"
            raise DataError(
                f"{path}, column '{column.name}', row {row + 2}: got {cell!r}, expected {expected}."
            ) from None
    return numbers
