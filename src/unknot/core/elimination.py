"""Sums over enumerated sites, one site at a time: a chain of T sites with K values costs K² T, not K^T.

A *factor* is a table over some enumerated sites, the samples and the batch. Given factors of log-weights and named
terms,

    log Z = log Σ_k exp Σ_i w_i(k),        E[f] = Σ_k exp(Σ_i w_i(k)) f(k) / Z

are computed by eliminating the sites in turn. To eliminate site a, the log-weights that have it are added up to W, and

    w'    = log Σ_a exp W                  a new log-weight over the other sites of W,
    f'    = Σ_a softmax_a(W) f             for every term f that has a: its mean given the other sites.

Terms stay apart, so that a term costs what its own sites cost.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from unknot.core.axes import Axes, Axis
from unknot.core.numerics import seen_finite
from unknot.errors import TraceError

LARGEST = 2**28  # numbers in one table


class Factor(NamedTuple):
    """A table ``(K_1, ..., K_n, S or 1, B)`` over the axes of n enumerated sites."""

    axes: tuple[Axis, ...]
    table: Tensor


def factor(values: Tensor, axes: Axes, what: str) -> Factor:
    """A factor from ``values`` over leading axes, whose slots belong to ``axes``."""
    extra = values.ndim - 2
    if extra <= 0:
        return Factor((), values if extra == 0 else values.reshape((1,) * -extra + values.shape))
    kept, sizes = [], []
    for position, size in enumerate(values.shape[:extra]):
        if size == 1:
            continue
        axis = axes.get(extra - 1 - position)
        if axis is None or axis.size != size:
            raise TraceError(
                f"{what} depends on an enumerated site whose axis is used by another site by now; in a markov loop, "
                "raise history= to the number of steps that a step looks back"
            )
        kept.append(axis)
        sizes.append(size)
    return Factor(tuple(kept), values.reshape(*sizes, *values.shape[extra:]))


def aligned(one: Factor, axes: Sequence[Axis]) -> Tensor:
    """The table with its axes in the order of ``axes``, of size one where it lacks them."""
    if one.axes == tuple(axes):
        return one.table
    order = [one.axes.index(axis) for axis in axes if axis in one.axes]
    table = one.table.permute(*order, -2, -1)
    shape = [axis.size if axis in one.axes else 1 for axis in axes]
    return table.reshape(*shape, *table.shape[-2:])


def added(factors: Sequence[Factor], axes: Sequence[Axis]) -> Tensor:
    """The sum of factors, over ``axes``."""
    total = aligned(factors[0], axes)
    for one in factors[1:]:
        total = total + aligned(one, axes)
    return total


class Elimination:
    """The state of an elimination.

    Parameters
    ----------
    weights : sequence of Factor
        Log-weights.
    terms : mapping from name to sequence of Factor, optional
        Terms whose means are wanted.
    normalized : mapping from Axis to Factor, optional
        For each site the factor of its own conditional probabilities, which sum to one: once it is all that is left
        of a site, its sum need not be taken.
    largest : bool, default=False
        Take the largest weight instead of the sum, for the most likely assignment.

    Attributes
    ----------
    history : list of (Axis, Factor)
        The log-weights W of each site as it was eliminated, in that order; kept if ``largest`` or ``remember``.
    """

    def __init__(
        self,
        weights: Sequence[Factor],
        terms: Mapping[str, Sequence[Factor]] | None = None,
        normalized: Mapping[Axis, Factor] | None = None,
        largest: bool = False,
        remember: bool = False,
    ) -> None:
        self.normalized = normalized or {}
        self.largest = largest
        self.remember = remember or largest
        self.history: list[tuple[Axis, Factor]] = []
        self._weights = _Shelf()
        self._terms = {name: _Shelf() for name in terms or {}}
        for one in weights:
            self._weights.put(one)
        for name, factors in (terms or {}).items():
            for one in factors:
                self._terms[name].put(one)

    def run(self, keep: Iterable[Axis] = ()) -> Elimination:
        """Eliminate all sites but those in ``keep``, always the one with the smallest table next."""
        kept = set(keep)
        neighbors = self._neighbors()
        order = {axis: place for place, axis in enumerate(neighbors)}
        heap = [(_size(axis, near), -order[axis], axis) for axis, near in neighbors.items()]
        heapq.heapify(heap)
        while heap:
            size, place, axis = heapq.heappop(heap)
            if axis in kept or axis not in neighbors:
                continue
            now = _size(axis, neighbors[axis])
            if now > size:
                heapq.heappush(heap, (now, place, axis))
                continue
            near = neighbors.pop(axis)
            for one in near:
                neighbors[one] = (neighbors[one] | near) - {axis, one}
                heapq.heappush(heap, (_size(one, neighbors[one]), -order[one], one))
            self._eliminate(axis)
        return self

    def log_total(self) -> Tensor:
        """log Z, ``(S, B)``, once all sites are eliminated."""
        return added(self._weights.all(), ())

    def means(self, axes: Sequence[Axis] = ()) -> dict[str, Tensor]:
        """The mean of every term, ``(S, B)``, or over the sites that were kept."""
        return {name: added(shelf.all(), axes) for name, shelf in self._terms.items()}

    def _neighbors(self) -> dict[Axis, set[Axis]]:
        found: dict[Axis, set[Axis]] = {}
        for shelf in (self._weights, *self._terms.values()):
            for one in shelf.all():
                for axis in one.axes:
                    found.setdefault(axis, set()).update(other for other in one.axes if other is not axis)
        return found

    def _eliminate(self, axis: Axis) -> None:
        mine = self._weights.take(axis)
        around = _union(mine, axis)
        _refuse_large((axis, *around), mine)
        total = added(mine, (axis, *around))  # (K, ..., S, B)
        if self.remember:
            self.history.append((axis, Factor((axis, *around), total)))
        if self.largest:
            self._weights.put(Factor(around, total.amax(0)))
            return
        alone = len(mine) == 1 and self.normalized.get(axis) is mine[0]
        if not alone:
            self._weights.put(Factor(around, _log_sum(total)))
        share: Tensor | None = None
        for shelf in self._terms.values():
            touched = shelf.take(axis)
            if touched and share is None:
                share = total.exp() if alone else _softmax(total)
            for part in _merged(touched):
                assert share is not None
                shelf.put(_mean(axis, Factor((axis, *around), share), part))


class _Shelf:
    """Factors by the axes that they have."""

    def __init__(self) -> None:
        self._by_axis: dict[Axis, dict[int, Factor]] = {}
        self._without: list[Factor] = []
        self._count = 0

    def put(self, one: Factor) -> None:
        self._count += 1
        for axis in one.axes:
            self._by_axis.setdefault(axis, {})[self._count] = one
        if not one.axes:
            self._without.append(one)

    def take(self, axis: Axis) -> list[Factor]:
        """Remove and return all factors that have an axis."""
        taken = self._by_axis.pop(axis, {})
        for number, one in taken.items():
            for other in one.axes:
                if other is not axis:
                    del self._by_axis[other][number]
        return list(taken.values())

    def all(self) -> list[Factor]:
        found: dict[int, Factor] = {}
        for factors in self._by_axis.values():
            found |= factors
        return [*self._without, *found.values()]


def _mean(axis: Axis, share: Factor, term: Factor) -> Factor:
    """The mean of a term over a site, whose probabilities given the other sites are ``share``."""
    around = share.axes[1:]
    axes = (*around, *(one for one in term.axes if one not in around and one is not axis))
    _refuse_large((axis, *axes), [term])
    weight, values = aligned(share, (axis, *axes)), aligned(term, (axis, *axes))
    if not seen_finite(values):
        values = torch.where(weight == 0, 0.0, values)  # 0 * -inf is 0 here
    return Factor(axes, (weight * values).sum(0))


def _size(axis: Axis, near: set[Axis]) -> int:
    return axis.size * prod(other.size for other in near)


def _refuse_large(axes: Sequence[Axis], factors: Sequence[Factor]) -> None:
    size = prod(axis.size for axis in axes) * max(one.table.shape[-2:].numel() for one in factors)
    if size > LARGEST:
        raise TraceError(
            f"the exact sum over {', '.join(sorted(axis.name for axis in axes))} needs a table of {size:.3g} numbers, "
            f"more than {LARGEST:.3g}; draw some of these sites, or make them depend on fewer others"
        )


def _union(factors: Sequence[Factor], axis: Axis) -> tuple[Axis, ...]:
    return tuple(dict.fromkeys(one for part in factors for one in part.axes if one is not axis))


def _merged(factors: list[Factor]) -> list[Factor]:
    """Add up factors where one has all axes of the other, which costs nothing."""
    merged: list[Factor] = []
    for one in sorted(factors, key=lambda part: -len(part.axes)):
        for place, other in enumerate(merged):
            if set(one.axes) <= set(other.axes):
                merged[place] = Factor(other.axes, other.table + aligned(one, other.axes))
                break
        else:
            merged.append(one)
    return merged


def _log_sum(total: Tensor) -> Tensor:
    """``log Σ exp`` over the first axis; -inf, without NaN gradients, where all are."""
    found = total.logsumexp(0)
    if seen_finite(found):
        return found
    top = total.detach().amax(0, keepdim=True).clamp_min(torch.finfo(total.dtype).min)
    summed = (total - top).exp().sum(0)
    nothing = summed == 0
    return torch.where(nothing, -torch.inf, summed.masked_fill(nothing, 1.0).log() + top[0])


def _softmax(total: Tensor) -> Tensor:
    """Softmax over the first axis; zeros where all are -inf."""
    weight = total.softmax(0)
    return weight if seen_finite(weight) else weight.nan_to_num(0.0)
