"""TableRows: the rows of a table as the model sees them, made from its cells when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class TableRows:
    """Some columns of cells ``(N, C)``, words by the numbers they stand for, as float32; NaN where missing.

    It is indexed like an array, by rows. ``lookups`` holds for each column the number of each of its words, or None
    where cells are numbers themselves.
    """

    dtype = np.dtype(np.float32)

    def __init__(
        self, cells: np.ndarray, positions: Sequence[int], lookups: Sequence[np.ndarray | None]
    ) -> None:
        self.cells, self.positions, self.lookups = cells, list(positions), list(lookups)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.cells), len(self.positions))

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        chosen = np.array(self.cells[rows][:, self.positions])
        for i, lookup in enumerate(self.lookups):
            if lookup is not None:
                present = ~np.isnan(chosen[:, i])
                chosen[present, i] = lookup[chosen[present, i].astype(np.int64)]
        with np.errstate(over="ignore"):
            return chosen.astype(np.float32)

    def array(self) -> np.ndarray:
        """All rows at once, made in parts so that memory holds little more than the result."""
        made = np.empty(self.shape, dtype=np.float32)
        step = max(1, (1 << 21) // max(1, self.cells.shape[1]))
        for start in range(0, len(self), step):
            made[start : start + step] = self[start : start + step]
        return made
