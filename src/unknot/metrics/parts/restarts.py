"""What the scores over restarts share: reading many sets of codes of the same items, and their result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unknot.errors import DataError
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, read_columns
from unknot.metrics.parts.result import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class RestartScores(Result):
    """A score for each restart; ``best`` is the one to take and ``value`` its score; ``pairs`` is ``(R, R)``."""

    value: float
    scores: np.ndarray
    best: int
    pairs: np.ndarray

    def __repr__(self) -> str:
        said = ", ".join(f"{score:.3f}" for score in self.scores)
        return f"{self.score}: restart {self.best} of [{said}] ({self.protocol})"


def read_restarts(
    restarts: Sequence[Arrays], discrete: Discrete, points: int | None, seed: int | None
) -> list[Columns]:
    """Codes of every restart, of the same items, at most so many of them."""
    read = [read_columns(codes, discrete, "codes") for codes in restarts]
    if len(read) < 2:
        raise DataError(
            f"Restarts are compared with one another, and there is {len(read)}: bring two or more."
        )
    lengths = sorted({len(codes) for codes in read})
    if len(lengths) > 1:
        raise DataError(
            f"The restarts have {', '.join(map(str, lengths))} rows: they must encode the same items, in one order."
        )
    if points is None or lengths[0] <= points:
        return read
    rows = np.random.default_rng(seed).permutation(lengths[0])[:points]
    return [codes.rows(rows) for codes in read]
