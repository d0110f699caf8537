"""Sets of variables whose ancestors in the encoder all have finitely many values: exact sums, no draws.

For a set G of an encoder's variables, with A the ancestors of G that are not in it,

    q(z_G | x_c) = Σ_{k in A's values} Π_{v in G} q(z_v | x_c, parents) Π_{a in A} q(k_a | x_c, parents)

where a parent in G has the value of the *row*, and a parent in A the value k that is summed over. Tables hold the
parameters at every value of the parents: :mod:`unknot.objectives.marginal.parent_tables`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core.node import Variable
from unknot.objectives.marginal.join_distributions import join_distributions
from unknot.objectives.marginal.parent_tables import class_index, class_masses, support
from unknot.objectives.marginal.row_view import row_view
from unknot.objectives.marginal.site_graph import SiteGraph
from unknot.objectives.marginal.variable_pairs import variable_joint
from unknot.objectives.marginal.weights import Mixture

Component = tuple[Distribution, Tensor | None]  # parameters (C, dims...) and log weight (C,)
Values = Mapping[str, int]  # a place in its support for each site that is summed over

MOST = 4096  # combinations of values that are summed over


def count_values(nodes: Sequence[Variable]) -> int:
    count = 1
    for node in nodes:
        count *= len(support(node))
    return count


def combinations(nodes: Sequence[Variable]) -> Iterator[dict[str, int]]:
    """Every combination of places in the nodes' supports."""
    names = [node.name for node in nodes]
    for places in itertools.product(*(range(len(support(node))) for node in nodes)):
        yield dict(zip(names, places, strict=True))


class FiniteParents:
    """Exact densities of sets. ``tables`` has, for every site, (C, dims...) or with parents (T, C, dims...)."""

    def __init__(self, graph: SiteGraph, tables: Mapping[str, Distribution], mixture: Mixture) -> None:
        self.graph = graph
        self.tables = tables
        self.mixture = mixture
        self._masses: dict[str, Tensor] = {}
        self._scores: dict[tuple[str, tuple[tuple[str, int], ...]], Tensor] = {}

    def matrix(self, names: Sequence[str]) -> Tensor:
        """log q(z_G at row b | x_c): (*rows, C)."""
        outside = self.graph.outside(names)
        totals = []
        for values in combinations([self.graph.nodes[name] for name in outside]):
            parts = [self._score(name, values) for name in names]
            parts += [self._mass(name, values) for name in outside]
            totals.append(sum(parts[1:], start=parts[0]))
        return totals[0] if len(totals) == 1 else torch.logsumexp(torch.stack(totals), 0)

    def components(self, name: str) -> list[Component]:
        """q(z_v | x_c) as a mixture over the values of v's parents, with q(parents | x_c) as weights."""
        parents = self.graph.parents[name]
        if not parents:
            return [(self.tables[name], None)]
        return [
            (self._at(name, values), self._parents_mass(parents, values))
            for values in combinations([self.graph.nodes[one] for one in parents])
        ]

    def _parents_mass(self, parents: Sequence[str], values: Values) -> Tensor:
        """log q(parents = values | x_c), their own ancestors summed out: (C,)."""
        further = self.graph.outside(parents)
        totals = []
        for more in combinations([self.graph.nodes[name] for name in further]):
            parts = [self._mass(name, {**values, **more}) for name in (*parents, *further)]
            totals.append(sum(parts[1:], start=parts[0]))
        return totals[0] if len(totals) == 1 else torch.logsumexp(torch.stack(totals), 0)

    def _score(self, name: str, values: Values) -> Tensor:
        """log q of the rows' own values of a site: (*rows, C)."""
        parents = self.graph.parents[name]
        key = (name, tuple((one, values[one]) for one in parents if one in values))
        if key not in self._scores:
            node = self.graph.nodes[name]
            if all(one in values for one in parents):
                dist = self._at(name, values)
                self._scores[key] = variable_joint(node, dist, self.mixture)
            else:
                index = torch.as_tensor(self._place(parents, values))
                node = row_view(node, torch.broadcast_shapes(node.leading_shape, index.shape))
                index = index.expand(node.leading_shape)
                self._scores[key] = variable_joint(node, self.tables[name], self.mixture, index)
        return self._scores[key]

    def _mass(self, name: str, values: Values) -> Tensor:
        """log q of the value of a site that is summed over: (C,), or (*rows, C) if it has a parent among the rows."""
        if name not in self._masses:
            self._masses[name] = class_masses(
                self.graph.nodes[name], self.tables[name]
            )  # (K, C) or (K, T, C)
        mass, parents = self._masses[name][values[name]], self.graph.parents[name]
        return mass[self._place(parents, values)] if parents else mass

    def _at(self, name: str, values: Values) -> Distribution:
        parents, table = self.graph.parents[name], self.tables[name]
        if not parents:
            return table
        place = self._place(parents, values)
        return join_distributions([table], lambda tensors: tensors[0][place])

    def _place(self, parents: Sequence[str], values: Values) -> Tensor | int:
        """Which entry of a table the parents' values mean: one for all rows, or one for each."""
        place: Tensor | int = 0
        for name in parents:
            node = self.graph.nodes[name]
            place = place * len(support(node)) + (values[name] if name in values else class_index(node))
        return place
