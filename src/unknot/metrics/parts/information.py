"""Plug-in entropies and mutual information of codes and factors, in nats, from counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unknot.metrics.parts.bins import categories
from unknot.metrics.parts.columns import Columns
from unknot.metrics.protocols import Histogram

_ROUNDING = 1e-12  # nats: less is the rounding of the entropies


@dataclass(frozen=True)
class Information:
    """Of D codes and K factors: ``mutual`` and ``joint`` ``(D, K)``, entropies ``(D,)`` and ``(K,)``."""

    mutual: np.ndarray
    joint: np.ndarray  # entropy of code and factor together
    of_codes: np.ndarray
    of_factors: np.ndarray
    code_values: np.ndarray  # how many values each code may take


def information(codes: Columns, factors: Columns, settings: Histogram) -> Information:
    """``I(v; z) = H(v) + H(z) - H(v, z)`` for every code and factor, from the table of their counts.

    A code given by probabilities adds to the counts of all its categories, q(c|x) each. Continuous factors are cut
    into bins of equal width.
    """
    code_index, code_sizes = categories(codes, settings.bins, settings.equal_mass)
    factor_index, factor_sizes = categories(factors, settings.bins)
    mutual, joint = np.empty((2, len(code_sizes), len(factor_sizes)))
    of_codes, of_factors = np.empty(len(code_sizes)), np.empty(len(factor_sizes))
    for k, values in enumerate(factor_sizes):
        for d, size in enumerate(code_sizes):
            table = counts(code_index[:, d], size, factor_index[:, k], values, codes.soft.get(d))
            joint[d, k], of_codes[d], of_factors[k] = map(entropy, (table, table.sum(1), table.sum(0)))
            mutual[d, k] = shared(table)
    return Information(mutual, joint, of_codes, of_factors, code_sizes)


def counts(
    code: np.ndarray, size: int, factor: np.ndarray, values: int, soft: np.ndarray | None = None
) -> np.ndarray:
    """Table ``(size, values)`` of how often a code and a factor meet."""
    if soft is not None:
        return np.stack([np.bincount(factor, q, minlength=values) for q in soft.T])
    return np.bincount(code * values + factor, minlength=size * values).reshape(size, values)


def entropy(table: np.ndarray) -> float:
    """``-Σ p log p`` of counts of any shape.

    >>> entropy(np.array([1, 1, 0, 2])) / entropy(np.array([1, 1]))
    1.5
    """
    shares = table[table > 0] / table.sum()
    return float(-(shares * np.log(shares)).sum())


def shared(table: np.ndarray) -> float:
    """Mutual information of the rows and the columns of a table of counts."""
    found = entropy(table.sum(0)) + entropy(table.sum(1)) - entropy(table)
    return found if found > _ROUNDING else 0.0


def gap(values: np.ndarray) -> np.ndarray:
    """The largest minus the second largest along the first axis; a single one is its own gap."""
    ordered = np.sort(values, axis=0)
    return ordered[-1] - ordered[-2] if len(ordered) > 1 else ordered[-1]
