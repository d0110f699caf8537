"""Column: what one column of a table holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

ColumnKind = Literal["real", "binary", "category", "count"]
COLUMN_KINDS: tuple[str, ...] = get_args(ColumnKind)


@dataclass(frozen=True)
class Column:
    """Name and kind; a category's classes in the order of their numbers."""

    name: str
    kind: ColumnKind
    classes: tuple[str, ...] = ()
