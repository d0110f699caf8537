"""Sets of variables whose ancestors in the encoder all have finitely many values: exact sums, no draws.

For a set G of an encoder's variables, with A the ancestors of G that are not in it,

    q(z_G | x_c) = Σ_{k in A's values} Π_{v in G} q(z_v | x_c, parents) Π_{a in A} q(k_a | x_c, parents)

where a parent in G has the value of the *row*, and a parent in A the value k that is summed over. Tables hold the
parameters at every value of the parents: :mod:`unknot.objectives.marginal.finite_parents`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution

from unknot.core import gradients, validation
from unknot.core.handlers import learned
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete, Relaxed
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import Encoder, Given, own_leading
from unknot.objectives.marginal.gather import join_distributions, parameters
from unknot.objectives.marginal.site_graph import SiteGraph, row_view
from unknot.objectives.marginal.variable_pairs import item_distribution, refuse_inactive, variable_joint
from unknot.objectives.marginal.weights import Mixture

# ---- Parameters of a variable at every value of its discrete parents in the encoder ----------------------
# There are two ways to such a table:
#
# * the parents are **enumerated**: the trace already holds the parameters at every value;
# * they are **discrete with K values**: the encoder is run K times, once with y = k for all items.
#
# ``encoder`` is a function from given values to the trace the encoder makes with them on the same inputs. A site
# that is not given has None, and is drawn::
#
#     hfvae(q, p, dataset_size=60000, encoder=lambda given: encoder(x, y_values=given["y"]))


def is_finite(node: Variable) -> bool:
    """Whether every value of the site is one of finitely many: hard, not soft."""
    if not gradients.is_finite(node.dist) or node.gradient == "plug_in":
        return False
    if node.event_dims > len(node.dist.event_shape):
        return False  # several discrete variables at one site
    return node.known is True or node.gradient != "concrete"


def support(node: Variable) -> Tensor:
    """All values of a finite site, (K, event...)."""
    return gradients.support(node.dist)


def class_index(node: Variable) -> Tensor:
    """Which value of the support each draw has, over the leading axes."""
    if isinstance(node.dist, Categorical | Bernoulli | BinaryConcrete):
        return node.value.detach().round().long()
    return node.value.detach().argmax(-1)


def class_masses(node: Variable, dist: Distribution) -> Tensor:
    """log q of every value of a finite site under ``dist``, batch shape (...): (K, ...)."""
    values = support(node)
    values = values.reshape(len(values), *(1,) * len(dist.batch_shape), *values.shape[1:])
    return dist.log_mass(values) if isinstance(dist, Relaxed) else dist.log_prob(values)


def enumerated_table(node: Variable, parents: Sequence[Variable], items: int) -> Distribution | None:
    """The table (T, B, dims...) that the trace holds already, T counting the parents' values in their order.

    None if a parent is not enumerated, or if the parameters vary over samples too.
    """
    refuse_inactive(node)
    lead = own_leading(node)
    if not all(one.enumerated for one in parents) or _varies(node, len(lead) - 2):
        return None
    axes = max(len(lead), *(one.leading_dims for one in parents))
    kept = [axes - one.leading_dims for one in parents]  # (..., K2, K1, S, B): these count from the right
    others = [axis for axis in range(axes - 1) if axis not in kept]
    if any(_varies(node, axis - axes + len(lead)) for axis in others):
        raise SpecError(
            f"site '{node.name}': its parameters differ between the values of an enumerated site that parents= leaves "
            f"out; add it to parents={{'{node.name}': [...]}}, or let parents be found (leave it None)"
        )
    sizes = [len(support(one)) for one in parents]

    def table(tensors: list[Tensor]) -> Tensor:
        rest = tensors[0].shape[len(lead) :]
        full = tensors[0].reshape(*(1,) * (axes - len(lead)), *tensors[0].shape)
        for axis in others:
            full = full.narrow(axis, 0, 1)
        full = full.permute(*kept, *others, *range(axes - 1, full.ndim)).flatten(len(kept), axes - 1)
        return full.expand(*sizes, items, *rest).reshape(-1, items, *rest)

    return join_distributions([node.plain], table)


def _varies(node: Variable, axis: int) -> bool:
    """Whether a leading axis of the parameters is more than broadcasting."""
    return axis >= 0 and any(t.shape[axis] > 1 and t.stride(axis) != 0 for t in parameters(node.plain))


class EncoderRuns:
    """Runs the encoder again, at given values; a table for each set of parents is made once."""

    def __init__(self, encoder: Encoder, items: int, event_dims: Mapping[str, int]) -> None:
        self.encoder = encoder
        self.items = items
        self.event_dims = {
            (-1, name): dims for name, dims in event_dims.items()
        }  # in whatever trace they are
        self._tables: dict[tuple[str, ...], list[Trace]] = {}

    def table(self, node: Variable, parents: Sequence[Variable]) -> Distribution:
        """Parameters of ``node`` at (x_c, k) for all k: (T, B, dims...)."""
        names = tuple(parent.name for parent in parents)
        if names not in self._tables:
            combinations = itertools.product(*(support(parent) for parent in parents))
            self._tables[names] = [
                self.at({name: self.repeated(value) for name, value in zip(names, values, strict=True)})
                for values in combinations
            ]
        runs = self._tables[names]
        return join_distributions([self.distribution(run, node) for run in runs], torch.stack)

    def at(self, values: Mapping[str, Tensor]) -> Trace:
        """The encoder's trace with ``values``, (B, event...) each; checks that they were used."""
        with learned(self.event_dims):
            q = self.encoder(Given(values))
        for name, value in values.items():
            taken = q[name].known is True and q[name].value.shape[-value.ndim :] == value.shape
            if not taken or (validation.is_on() and not bool((q[name].value == value).all())):
                raise SpecError(
                    f"encoder=: the trace it returned does not have '{name}' at the given value; observe it there, "
                    f"for example encoder=lambda given: net(x, {name}_values=given['{name}'])"
                )
        return q

    def at_once(self, nodes: Mapping[str, Variable]) -> Trace:
        """The encoder's trace with ``nodes``, whose values (M, B, event...) are those of M runs; checks likewise."""
        with learned(self.event_dims):
            q = self.encoder(Given(nodes))
        for name, node in nodes.items():
            if q[name].source is not node:
                raise SpecError(
                    f"encoder=: the trace it returned does not have '{name}' at the given values; with vectorized=True "
                    f"they are nodes, to be handed on as they are: value=given['{name}']"
                )
        return q

    def repeated(self, value: Tensor) -> Tensor:
        """One value for all items."""
        return value.expand(self.items, *value.shape)

    def distribution(self, run: Trace, node: Variable) -> Distribution:
        """The parameters of a site in a run, one row for each item."""
        return item_distribution(run[node.name], self.items)


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
