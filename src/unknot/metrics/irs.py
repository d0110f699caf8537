"""IRS: does a code stay where it is while the other factors change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.metrics.parts.columns import Arrays, Discrete, prepare
from unknot.metrics.parts.information import categories
from unknot.metrics.parts.result import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class Irs(Result):
    """``matrix`` ``(codes, factors)``: robustness of each code when a factor is fixed; dead codes are 0."""

    value: float
    matrix: np.ndarray
    live: int


def irs(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: Any = None,
) -> Irs:
    """Suter et al. 2019, ``Σ_j w_j max_k (1 - mean_v Q(|z_j - E[z_j|v]|) / w_j) / Σ_j w_j``.

    ``w_j = max |z_j - E z_j|`` is how far code j ever moves, Q the quantile (.99 for the maximum) over the items whose
    factor k has the value v. A discrete code is its one-hot vector, at half the L1 distance from the mean,
    ``1 - p(c)``. Weights make it depend on the scale of the codes.
    """
    given = prepare("irs", codes, factors, discrete, discrete_factors, seed, protocol)
    index, sizes = categories(given.factors, given.settings.groups, mass=True)
    values, kinds = given.codes.values, given.codes.sizes
    reach = np.stack([_distance(z, size).max() for z, size in zip(values.T, kinds, strict=True)])
    moved = np.zeros((values.shape[1], index.shape[1]))
    for k, size in enumerate(sizes):
        groups = [rows for v in range(size) if len(rows := np.flatnonzero(index[:, k] == v))]
        for d, kind in enumerate(kinds):
            far = [np.quantile(_distance(values[rows, d], kind), given.settings.quantile) for rows in groups]
            moved[d, k] = np.mean(far)
    live = reach > 0
    robust = np.where(live[:, None], 1 - moved / np.where(live, reach, 1.0)[:, None], 0.0)
    value = float(robust.max(1) @ reach / reach.sum()) if live.any() else 0.0
    return Irs(value=value, matrix=robust, live=int(live.sum()), **given.said)


def _distance(code: np.ndarray, size: int) -> np.ndarray:
    """How far each item is from the mean."""
    if size:
        index = code.astype(int)
        return 1 - (np.bincount(index, minlength=size) / len(index))[index]
    return np.abs(code - code.mean())
