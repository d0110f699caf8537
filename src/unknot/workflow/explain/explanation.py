"""Explanation: the importance of columns or words for one factor, and their contributions item by item."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np


@dataclass(frozen=True)
class Explanation:
    """Which columns, or words of texts, the predictions of a factor rest on (:mod:`unknot.workflow.explain.explain`).

    Attributes
    ----------
    factor : str
        The factor.
    names : tuple of str
        The C columns or words, in the order of the data.
    importance : ndarray of shape (C,)
        How much worse the predictions are without a column: the expected increase of the log loss in nats, or of the
        squared error of a continuous factor.
    standard_error : ndarray of shape (C,)
        The standard errors of these means over items.
    contributions : ndarray of shape (N, C), or (N, C, D) for D numbers
        For each item how much the column adds to the probability of the predicted class, or to the mean.
    replaced_by : str
        What stands in place of a column.
    toward : tuple of str
        The class whose probability a word raises most; empty for columns.
    """

    factor: str
    names: tuple[str, ...]
    importance: np.ndarray
    standard_error: np.ndarray
    contributions: np.ndarray
    measure: str
    replaced_by: str
    toward: tuple[str, ...] = ()

    @property
    def order(self) -> np.ndarray:
        """The positions of the columns, the most important one first."""
        return np.argsort(-self.importance, kind="stable")

    def to_dict(self, most: int | None = None) -> dict[str, list[Any]]:
        """Return a table by column, the most important rows first, at most ``most`` of them."""
        order = self.order[:most]
        table: dict[str, list[Any]] = {
            "name": [self.names[i] for i in order],
            "importance": self.importance[order].tolist(),
            "standard error": self.standard_error[order].tolist(),
        }
        if self.toward:
            table["toward"] = [self.toward[i] for i in order]
        return table

    def to_frame(self) -> Any:
        """Return :meth:`to_dict` as a frame of pandas or polars, whichever is in use, or else of pyarrow."""
        library: Any = next((name for name in ("pandas", "polars") if name in sys.modules), "pyarrow")
        return nw.from_dict(self.to_dict(), backend=library).to_native()

    def __str__(self) -> str:
        table = self.to_dict(20)
        width = max(map(len, table["name"]), default=0)
        lines = [f"{self.factor}: {self.measure} if a column is {self.replaced_by}"]
        lines += [
            f"{name:{width}}  {value:8.4g} ± {error:.2g}" + (f"  {table['toward'][i]}" if self.toward else "")
            for i, (name, value, error) in enumerate(
                zip(table["name"], table["importance"], table["standard error"], strict=True)
            )
        ]
        hidden = len(self.names) - len(table["name"])
        return "\n".join(lines + ([f"and {hidden:,} others"] if hidden else []))
