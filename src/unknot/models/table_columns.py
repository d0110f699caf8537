"""From the kinds of a table's columns and its rows to the columns' full descriptions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from unknot.errors import DataError
from unknot.models.table import KINDS


def describe_columns(
    kinds: Iterable[str], rows: Tensor, names: Iterable[str] = (), classes: Iterable[int] = ()
) -> tuple[Mapping[str, Any], ...]:
    """Each column's kind, with the mean and spread of a real one and the number of classes of a category.

    ``classes`` are these numbers where they are known; otherwise the largest class that occurs tells.
    """
    kinds, given, sizes = list(kinds), list(names), list(classes)
    if rows.ndim != 2 or rows.shape[1] != len(kinds):
        raise DataError(f"columns names {len(kinds)} kinds, but rows have shape {tuple(rows.shape[1:])}")
    columns = []
    for i, kind in enumerate(kinds):
        name = given[i] if given else f"column {i}"
        if kind not in KINDS:
            raise DataError(f"'{name}': kind is one of {', '.join(KINDS)}, but is {kind!r}")
        present = rows[:, i][~torch.isnan(rows[:, i])]
        if len(present) == 0:
            raise DataError(f"'{name}': every entry is missing; leave the column out.")
        size = sizes[i] if sizes else 0
        columns.append({"name": name, "kind": kind, **_measured(name, kind, present, size)})
    return tuple(columns)


def _measured(name: str, kind: str, present: Tensor, size: int) -> dict[str, Any]:
    if kind == "real":
        return {"mean": float(present.mean()), "sd": float(present.std(correction=0)) or 1.0}
    _refuse_strange(name, kind, present, math.inf)
    return {"size": max(size, int(present.max()) + 1)} if kind == "category" else {}


def check_rows(columns: Sequence[Mapping[str, Any]], rows: Tensor) -> None:
    """Refuse rows ``(N, C)`` with an entry that a described column cannot hold."""
    for i, column in enumerate(columns):
        present = rows[:, i][~torch.isnan(rows[:, i])]
        if column["kind"] != "real":
            _refuse_strange(column["name"], column["kind"], present, column.get("size", math.inf))


def _refuse_strange(name: str, kind: str, present: Tensor, classes: float) -> None:
    """Whole numbers from 0: to 1 in a binary column, below the number of classes in a category."""
    end = 2 if kind == "binary" else classes
    bad = present[(present < 0) | (present != present.round()) | (present >= end)]
    if len(bad):
        raise DataError(f"'{name}': entries of a {kind} column cannot be {float(bad[0]):g}")
