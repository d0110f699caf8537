"""Encoders whose variables depend on each other: log q of every node of a tree, its other ancestors summed out.

If the encoder computes z from x and y, a mixture over items c at draw b has two right forms. In the joint of both,
q(y_b, z_b), z is scored at the input of the column and the parent's value of the *row*, q(z_b | x_c, y_b). In
the marginal of z alone the parent is summed out in every column,

    q(z_b) = Σ_c w_bc Σ_y q(y | x_c) q(z_b | x_c, y)

The trace holds q(z | x_c, y_c) only, which is neither. What else is needed:

* parents with **finitely many values**: their tables of parameters, and exact sums
  (:mod:`unknot.objectives.marginal.finite_parents`). Enumerated parents have the tables in the trace; others need
  ``encoder=`` to run again, once for each value;
* **relaxed and continuous** parents: ``encoder=`` and an estimate from further runs
  (:mod:`unknot.objectives.marginal.sampled_parents`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core import gradients
from unknot.core.dependence import tensors_of
from unknot.core.node import Variable
from unknot.core.numerics import log_mean_exp
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import reached
from unknot.objectives.marginal.finite_parents import (
    MOST,
    Component,
    FiniteParents,
    count_values,
    enumerated_table,
    is_finite,
)
from unknot.objectives.marginal.gather import gather_distribution, join_distributions, own_columns
from unknot.objectives.marginal.leaf_logs import own_logs, pair_logs, refusal
from unknot.objectives.marginal.log_mixture import log_mixture
from unknot.objectives.marginal.marginal_tree import Groups, Marginal, leaf_marginal, variable_names
from unknot.objectives.marginal.sampled_parents import SampledParents
from unknot.objectives.marginal.site_graph import SiteGraph, twin
from unknot.objectives.marginal.variable_pairs import variable_joint, variable_pairs
from unknot.objectives.marginal.weights import Mixture


class DependentVariables:
    """Works through a tree. ``columns`` gives the parameters of a site without parents for all reference items."""

    def __init__(
        self,
        graph: SiteGraph,
        columns: Callable[[Variable], Distribution],
        weights: Mixture,
        few_columns: Mixture | None,
        sampled: SampledParents | None,
        items: int,
    ) -> None:
        self.graph = graph
        self.weights = weights
        self.few_columns = few_columns  # own item first, then those that sampled.pairs lets a draw meet
        self.sampled = sampled
        self.items = items
        self._columns = columns
        self._tables: dict[str, Distribution | None] = {}

    def tree(self, groups: Groups) -> Marginal:
        """log q^ of a node and of all below it."""
        if isinstance(groups, Mapping):
            parts = {name: self.tree(part) for name, part in groups.items()}
        else:
            parts = {name: self.leaf(name) for name in groups}
        if len(parts) == 1:  # a group of one is that one
            return Marginal(next(iter(parts.values())).log_q, parts)
        return Marginal(self.joint(variable_names(groups)), parts)

    def joint(self, names: Sequence[str]) -> Tensor:
        """log q^(z_G) at every row."""
        if (exact := self._exact(names)) is not None:
            return log_mixture(exact.matrix(names), self.weights)
        sampled = self._sampled(names)
        if not self.graph.inside(names):
            return self._average(
                [(self._pairs(names, dists), mass) for dists, mass in sampled.components(names)]
            )
        closed = not self.graph.outside(names)
        own = sum(self.graph.nodes[name].log_prob for name in names) if closed else None
        assert self.few_columns is not None
        return log_mixture(sampled.columns(names, own), self.few_columns)  # type: ignore[arg-type]

    def leaf(self, name: str) -> Marginal:
        """log q^(z_v), log q^(z_vd), and the same given the item itself."""
        node = self.graph.nodes[name]
        if not self.graph.parents[name]:
            pairs = variable_pairs(node, self._table(name), self.weights)  # type: ignore[arg-type]
            return leaf_marginal(pairs, self.weights, refusal(name, node.dist, "q's"))
        exact = self._exact([name])
        found: list[Component]
        if exact is not None:
            found = exact.components(name)
        else:
            found = [(dists[name], mass) for dists, mass in self._sampled([name]).components([name])]
        log_q, dimensions = self._leaf_of(node, found)
        if dimensions is None:
            own, _ = self._own(node, found, 1)
            return Marginal(log_q, own=own, refusal=refusal(name, node.dist, "q's"))
        own, own_dimensions = self._own(node, found, dimensions.shape[-1])
        return Marginal(log_q, {}, dimensions, own, own_dimensions)

    def _leaf_of(self, node: Variable, components: list[Component]) -> tuple[Tensor, Tensor | None]:
        """log q^(z_v), and log q^(z_vd) where single dimensions have a closed form."""
        pairs = [variable_pairs(node, dist, self.weights) for dist, _ in components]
        log_q = self._average([(one.joint, mass) for one, (_, mass) in zip(pairs, components, strict=True)])
        marginals = [one.marginals for one in pairs if one.marginals is not None]
        if not marginals:
            return log_q, None
        if marginals[0].shape[-1] == 1:
            return log_q, log_q[..., None]
        if components[0][1] is None:
            return log_q, log_mean_exp(torch.stack(marginals), 0)
        logs = [
            pair_logs(node, dist, one.joint) + _weight(mass)[:, None]
            for one, (dist, mass) in zip(pairs, components, strict=True)
        ]
        by_leaf = torch.logsumexp(torch.stack(logs), 0).movedim(-1, 0)  # (D, *rows, C)
        return log_q, log_mixture(by_leaf, self.weights).movedim(0, -1)

    def _average(self, matrices: list[tuple[Tensor, Tensor | None]]) -> Tensor:
        """log Σ_c w_bc Σ_i m_ic q_i(z_b | x_c), where components without masses m count alike."""
        if matrices[0][1] is None:
            return log_mean_exp(torch.stack([log_mixture(one, self.weights) for one, _ in matrices]), 0)
        total = torch.logsumexp(torch.stack([one + _weight(mass) for one, mass in matrices]), 0)
        return log_mixture(total, self.weights)

    def _own(self, node: Variable, components: list[Component], size: int) -> tuple[Tensor, Tensor]:
        """log q(z_v | x) and log q(z_vd | x) of the items themselves, their parents summed out."""
        own = own_columns(self.items, self.graph.device)
        joint, single = [], []
        for dist, mass in components:
            at_home = join_distributions([dist], lambda tensors: tensors[0][own])
            one = twin(node, at_home, node.value, node.unbounded, node.known, node.leading_dims)
            share = -torch.tensor(float(len(components))).log() if mass is None else mass[own]
            joint.append(one.log_prob + share)
            if size > 1:
                single.append(own_logs(one, at_home) + (share if mass is None else share[:, None]))
        total = torch.logsumexp(torch.stack(joint), 0)
        return total, torch.logsumexp(torch.stack(single), 0) if size > 1 else total[..., None]

    def _pairs(self, names: Sequence[str], dists: Mapping[str, Distribution]) -> Tensor:
        joints = [variable_joint(self.graph.nodes[n], dists[n], self.weights) for n in names]
        return sum(joints[1:], start=joints[0])

    def _exact(self, names: Sequence[str]) -> FiniteParents | None:
        """Exact sums, if all that is conditioned on is finite and every table can be had."""
        conditions = [self.graph.nodes[name] for name in self.graph.conditions(names)]
        if not all(is_finite(node) for node in conditions):
            return None
        outside = [self.graph.nodes[name] for name in self.graph.outside(names)]
        if count_values(outside) > MOST:
            raise SpecError(
                f"q({', '.join(names)}) needs a sum over {count_values(outside)} combinations of "
                f"{', '.join(node.name for node in outside)}; at most {MOST} are taken. Put them into one group"
            )
        tables = {name: self._table(name) for name in self.graph.ancestors(names)}
        if any(table is None for table in tables.values()):
            return None
        return FiniteParents(self.graph, tables, self.weights)  # type: ignore[arg-type]

    def _table(self, name: str) -> Distribution | None:
        """(C, dims...), or with parents (T, C, dims...): None where it takes a run and there is no encoder."""
        if name not in self._tables:
            node, names = self.graph.nodes[name], self.graph.parents[name]
            if not names:
                self._tables[name] = self._columns(node)
            else:
                parents = [self.graph.nodes[one] for one in names]
                table = enumerated_table(node, parents, self.items)
                if table is None and self.sampled is not None:
                    table = self.sampled.runs.table(node, parents)
                self._tables[name] = None if table is None else gather_distribution(table, axis=1)
        return self._tables[name]

    def _sampled(self, names: Sequence[str]) -> SampledParents:
        """The estimate from further runs, or the reason why there is none."""
        if self.sampled is None:
            child = next(name for name in self.graph.ancestors(names) if self.graph.parents[name])
            refuse(self.graph.nodes[child], [self.graph.nodes[name] for name in self.graph.parents[child]])
        for name in self.graph.outside(names):
            node = self.graph.nodes[name]
            if not is_finite(node) and gradients.default(node.dist) == "score_function":
                raise SpecError(
                    f"q({', '.join(names)}) averages over draws of '{name}', whose {type(node.dist).__name__} draws "
                    "carry no gradient, so its gradient would be wrong; put them into one group, or make the encoder's "
                    "variables independent given x"
                )
        return self.sampled


def _weight(mass: Tensor | None) -> Tensor:
    assert mass is not None
    return mass


def refuse(node: Variable, parents: Sequence[Variable]) -> NoReturn:
    """Say why the marginal of a dependent variable cannot be computed as asked, and what to do."""
    names = ", ".join(parent.name for parent in parents)
    sure = bool(reached(tensors_of(node.plain), parents))
    first = parents[0].name
    message = (
        f"site '{node.name}' {'depends' if sure else 'may depend'} on {names} in the encoder, so q({node.name}) needs "
        f"its parameters at (x of one item, {names} of another): "
        f"pass encoder=lambda given: net(x, ...=given['{first}'])"
    )
    if all(is_finite(parent) for parent in parents):
        message += f", which is run once for each value of {names}, or enumerate {names}."
    else:
        message += ", which is run a few times (see pairs=)."
    if sure:
        message += f" In a spec, leave {names} out of {node.name}'s inferred_from."
    else:
        message += (
            " The trace alone cannot tell whether it does: parents=unknot.objectives.site_parents(net, x) reads it "
            "from the program, once for all calls; parents={} says that nothing does."
        )
    raise SpecError(message)
