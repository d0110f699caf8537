"""Sets of variables with a relaxed or continuous ancestor in the encoder: estimates from further runs of it.

For a set G, with A the ancestors of G that are not in it, one run of the encoder on the batch with the parents
inside G at given values and the sites of A drawn anew gives, for every item c, an unbiased estimate

    q^(z_G | x_c) = Π_{v in G} q(z_v | x_c, parents: in G as given, in A as drawn)

since A is drawn from q(z_A | x_c) and independently of the row. Sites of A that have finitely many values are not
drawn: they are given each value in turn and summed with their mass.

* **Nothing inside G is a parent** (G is one variable, say): nothing is given, and one run serves all pairs of
  rows and columns. ``draws`` runs are averaged.
* **Otherwise** a pair (b, c) needs item c's parameters at the values of item b. A run with the values shifted by
  m along the batch scores draw b under item b - m, for all b at once: ``pairs`` such runs let every draw meet that
  many other items, and its own item makes the ``pairs`` + 1 columns of the mixture. All B - 1 of them are every
  pair, B x B evaluations of the network.

Where the encoder takes an axis of samples before the batch, ``vectorized``, the runs of either kind are one.

The estimate of q(z_G) is unbiased, whatever the numbers. Its logarithm is low by Jensen's inequality, by
O(1 / columns) + O(1 / draws): docs/equations.md has it measured. If G holds all its ancestors and every pair is
taken there is no error beyond that of the batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core import gradients
from unknot.core.node import Variable
from unknot.core.numerics import log_mean_exp
from unknot.core.trace import Trace
from unknot.objectives.marginal.finite_parents import (
    EncoderRuns,
    class_masses,
    combinations,
    is_finite,
    support,
)
from unknot.objectives.marginal.gather import gather_distribution, gather_items, join_distributions
from unknot.objectives.marginal.site_graph import SiteGraph, met_rows, shifted_rows, twin
from unknot.objectives.marginal.variable_pairs import item_distribution


@dataclass(frozen=True)
class SampledParents:
    """How q(z) is estimated where z has parents that are drawn.

    Attributes
    ----------
    pairs : int or None
        The other items at whose values the encoder is run.
    draws : int
        The runs that are averaged.
    vectorized : bool
        Whether they are done in one run of the encoder.
    """

    graph: SiteGraph
    runs: EncoderRuns
    pairs: int
    draws: int
    vectorized: bool = False

    def components(self, names: Sequence[str]) -> list[tuple[dict[str, Distribution], Tensor | None]]:
        """For a set without parents inside: parameters of its sites, (C, dims...), and log weights (C,)."""
        finite, times = self._outside(names)
        if self.vectorized and not finite and not self.graph.conditions(self.graph.outside(names)):
            return [({n: one[n] for n in names}, None) for one in self._drawn_at_once(names, times)]
        found = []
        for _ in range(times):
            for values in combinations(finite):
                run = self.runs.at(self._given(finite, values))
                dists = {n: gather_distribution(self._dist(run, n)) for n in names}
                mass = self._mass(run, finite, values)
                found.append((dists, None if mass is None else gather_items(mass) - math.log(times)))
        return found

    def _drawn_at_once(self, names: Sequence[str], times: int) -> list[dict[str, Distribution]]:
        """Parameters of the sites at several draws of A, of which no site depends on another, from one run."""
        anew = Trace(samples=times)
        for node in (self.graph.nodes[name] for name in self.graph.outside(names)):
            dist = item_distribution(node, self.runs.items)
            way = node.gradient or gradients.default(dist)
            anew.variable(dist, name=node.name, gradient=way, event_dims=node.event_dims)
        run = self.runs.at_once({node.name: node for node in anew.variables()})
        return [{n: gather_distribution(_run(run[n].dist, m)) for n in names} for m in range(times)]

    def columns(self, names: Sequence[str], own: Tensor | None) -> Tensor:
        """For a set with parents inside: log q(z_G at row b | x_b), then under ``pairs`` other items, (*rows, 1 + M).

        ``own`` is the first column where the trace has it, for sets that hold all their ancestors.
        """
        nodes = [self.graph.nodes[name] for name in names]
        rows = torch.broadcast_shapes(*(node.leading_shape for node in nodes))
        shifts = [*([0] if own is None else []), *range(1, self.pairs + 1)]
        places = rows[:-1].numel()
        if self.vectorized and own is not None:
            met = torch.stack([self._met_at_once(names, rows, place) for place in range(places)])
            return torch.cat([own.expand(rows)[..., None], met.reshape(*rows, -1)], -1)
        columns = [
            torch.stack([self._shifted(names, rows, place, shift) for place in range(places)]).reshape(rows)
            for shift in shifts
        ]
        first = [] if own is None else [own.expand(rows)]
        return torch.stack([*first, *columns], -1)

    def _met_at_once(self, names: Sequence[str], rows: Size, place: int) -> Tensor:
        """log q(z_G of item b | x of item b - m) for all m from one run, (B, M): for sets that hold their ancestors."""
        items = torch.arange(rows[-1], device=self.graph.device)
        shifts = torch.arange(1, self.pairs + 1, device=self.graph.device)[:, None]
        others = (items + shifts) % rows[-1]  # (M, B): the draw that item c meets
        met = {name: met_rows(self.graph.nodes[name], rows, place, others) for name in names}
        run = self.runs.at_once({name: met[name] for name in self.graph.inside(names)})
        logs = [
            twin(one, run[name].dist, one.value, one.unbounded, one.known, 2).log_prob
            for name, one in met.items()
        ]
        total = sum(logs[1:], start=logs[0])  # (M, B)
        return total.gather(1, (items - shifts) % rows[-1]).mT

    def _shifted(self, names: Sequence[str], rows: Size, place: int, shift: int) -> Tensor:
        """log q^(z_G of item b | x of item b - shift), (B,), at one place of the axes before the batch."""
        finite, times = self._outside(names)
        inside = [self.graph.nodes[name] for name in self.graph.inside(names)]
        held = {node.name: shifted_rows(node, node.dist, rows, place, shift).value for node in inside}
        totals = []
        for _ in range(times if shift == 0 else 1):
            parts = []
            for values in combinations(finite):
                run = self.runs.at({**held, **self._given(finite, values)})
                logs = [
                    shifted_rows(self.graph.nodes[name], self._dist(run, name), rows, place, shift).log_prob
                    for name in names
                ]
                mass = self._mass(run, finite, values)
                parts.append(sum(logs[1:] + ([] if mass is None else [mass]), start=logs[0]))
            totals.append(parts[0] if len(parts) == 1 else torch.logsumexp(torch.stack(parts), 0))
        total = totals[0] if len(totals) == 1 else log_mean_exp(torch.stack(totals), 0)
        return total.roll(shift, 0)

    def _outside(self, names: Sequence[str]) -> tuple[list[Variable], int]:
        """The finite sites of A, and how many runs are averaged: one if nothing of A is drawn."""
        outside = [self.graph.nodes[name] for name in self.graph.outside(names)]
        finite = [node for node in outside if is_finite(node)]
        return finite, self.draws if len(finite) < len(outside) else 1

    def _given(self, finite: Sequence[Variable], values: Mapping[str, int]) -> dict[str, Tensor]:
        return {node.name: self.runs.repeated(support(node)[values[node.name]]) for node in finite}

    def _mass(self, run: Trace, finite: Sequence[Variable], values: Mapping[str, int]) -> Tensor | None:
        """log q of the given values of A's finite sites: (B,)."""
        masses = [class_masses(node, self._dist(run, node.name))[values[node.name]] for node in finite]
        return sum(masses[1:], start=masses[0]) if masses else None

    def _dist(self, run: Trace, name: str) -> Distribution:
        return self.runs.distribution(run, self.graph.nodes[name])


def _run(dist: Distribution, number: int) -> Distribution:
    """The parameters of one run, (B, dims...), of several at once."""
    return join_distributions([dist], lambda tensors: tensors[0][number])
