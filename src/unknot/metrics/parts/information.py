"""Plug-in entropies and mutual information of codes and factors, in nats, from counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unknot.metrics.parts.columns import Columns
from unknot.metrics.protocols import Histogram

# ---- Information of one number about a category, by nearest neighbors ------------------------------------

_JITTER = 1e-10  # of the code's size: parts equal values, as in scikit-learn


def neighbor_information(code: np.ndarray, factor: np.ndarray, neighbors: int, seed: int | None = 0) -> float:
    """``I = ψ(N) + <ψ(k)> - <ψ(N_v)> - <ψ(m)>`` (Ross 2014), in nats, not below 0.

    For each item, r is the distance to its k-th neighbor among the items of its category v, of which there are
    N_v, and m counts the items of any category closer than r, itself included. Where a category has k or fewer
    items, k is one less than their number; categories of one item are left out. In one dimension the k-th neighbor
    lies in a window of the sorted values, so this sorts where scikit-learn's ``mutual_info_classif`` builds trees;
    the numbers are the same.
    """
    from scipy.special import digamma

    index, sizes = np.unique(factor, return_inverse=True, return_counts=True)[1:]
    kept = sizes[index] > 1
    code, index = code[kept], index[kept]
    scale = _JITTER * max(1.0, float(np.abs(code).mean()))
    code = code + scale * np.random.default_rng(seed).standard_normal(len(code))
    radius, used = np.empty(len(code)), np.empty(len(code))
    for value in np.unique(index):
        rows = np.flatnonzero(index == value)
        k = min(neighbors, len(rows) - 1)
        order = rows[np.argsort(code[rows])]
        radius[order], used[order] = neighbor_distance(code[order], k), k
    inside = count_closer(np.sort(code), code, radius)
    terms = digamma(used) - digamma(sizes[index]) - digamma(np.maximum(inside, 1))
    return max(0.0, float(digamma(len(code)) + terms.mean()))


def count_closer(ordered: np.ndarray, points: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """How many of the sorted values lie closer to each point than its radius.

    ``point + radius`` is rounded and may fall on the wrong side of the neighbor that the radius was taken from, so
    the ends are moved until the distances themselves say the same.

    >>> count_closer(np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0]), np.array([1.0])).tolist()
    [1]
    """
    padded = np.concatenate([[-np.inf], ordered, [np.inf]])
    first = np.searchsorted(ordered, points - radius, "right") + 1  # places in the padded values
    last = np.searchsorted(ordered, points + radius, "left")
    for _ in range(len(ordered)):
        down = (points - padded[first - 1] < radius).astype(int) - (points - padded[first] >= radius)
        up = (padded[last + 1] - points < radius).astype(int) - (padded[last] - points >= radius)
        if not (down.any() or up.any()):
            break
        first, last = np.clip(first - down, 1, len(ordered)), np.clip(last + up, 1, len(ordered))
    return last - first + 1


def neighbor_distance(ordered: np.ndarray, k: int) -> np.ndarray:
    """Distance of each of the sorted values to its k-th nearest other one.

    >>> neighbor_distance(np.array([0.0, 1.0, 3.0, 7.0]), 1).tolist()
    [1.0, 1.0, 2.0, 4.0]
    """
    padded = np.concatenate([np.full(k, -np.inf), ordered, np.full(k, np.inf)])
    places = np.arange(len(ordered)) + k
    # the k neighbors and the value itself are k + 1 in a row: j below it, k - j above
    reach = [np.maximum(ordered - padded[places - j], padded[places + k - j] - ordered) for j in range(k + 1)]
    return np.min(reach, axis=0)


# ---- Numbers as categories: bins of equal width or of equal mass -----------------------------------------


def equal_width(values: np.ndarray, bins: int) -> np.ndarray:
    """Bin of each value, ``bins`` of one width between the smallest and the largest.

    >>> equal_width(np.array([0.0, 0.4, 0.6, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    edges = np.histogram_bin_edges(values, bins)
    return np.digitize(values, edges[:-1]) - 1


def equal_mass(values: np.ndarray, bins: int) -> np.ndarray:
    """Bin of each value, with about as many values in each; equal values share a bin.

    >>> equal_mass(np.array([0.0, 1.0, 2.0, 100.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    inner = np.quantile(values, np.arange(1, bins) / bins)
    return np.searchsorted(np.unique(inner), values, side="right")


def categories(columns: Columns, bins: int, mass: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Columns as integers ``(N, D)`` and how many values each may take ``(D,)``; categories stay as they are."""
    cut = equal_mass if mass else equal_width
    index = [
        values.astype(int) if size else cut(values, bins)
        for values, size in zip(columns.values.T, columns.sizes, strict=True)
    ]
    return np.stack(index, 1), np.array([size or bins for size in columns.sizes])


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
