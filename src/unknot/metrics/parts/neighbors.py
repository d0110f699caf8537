"""Information of one number about a category, by nearest neighbors."""

from __future__ import annotations

import numpy as np

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
