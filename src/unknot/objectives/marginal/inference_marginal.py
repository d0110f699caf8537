"""InferenceMarginal: log q of every node of a tree of groups, estimated from an encoder's trace (E19 sec. 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.dependent_variables import DependentVariables
from unknot.objectives.marginal.encoder_parents import Encoder, Parents, encoder_parents
from unknot.objectives.marginal.finite_parents import EncoderRuns
from unknot.objectives.marginal.gather import (
    gather_distribution,
    join_distributions,
    own_columns,
    process_count,
)
from unknot.objectives.marginal.leaf_logs import own_logs, refusal
from unknot.objectives.marginal.marginal_tree import Groups, Marginal, check_names, marginal_tree
from unknot.objectives.marginal.sampled_parents import SampledParents
from unknot.objectives.marginal.site_graph import SiteGraph, over_items, row_view
from unknot.objectives.marginal.variable_pairs import item_distribution, joint_logs, joint_of, variable_pairs
from unknot.objectives.marginal.weights import Mixture, mixture
from unknot.objectives.parts.groups import as_groups, leaves

# How much each variable and each dimension tells of x, draw by draw: log q(z_d | x) - log q(z_d).


@dataclass(frozen=True)
class LeafInformation:
    """For one variable: ``joint`` (*rows) and ``dimensions`` (*rows, D), log q(· | x) - log q^(·)."""

    joint: Tensor
    dimensions: Tensor


def leaf_information(
    q: Trace, marginals: InferenceMarginal, names: Sequence[str] | None = None
) -> tuple[Marginal, dict[str, LeafInformation]]:
    """The tree of marginals and, for every variable or those of ``names``, what it tells of x.

    The mean over draws of ``dimensions`` estimates I(x; z_d) (E19 Fig. 4, right).
    """
    tree = marginals.tree(q, as_groups(None, [node.name for node in q.variables()]))
    found = leaves(tree)
    return tree, {name: _information(q[name], found[name]) for name in (names or found)}


def _information(node: Variable, leaf: Marginal) -> LeafInformation:
    dimensions = leaf.leaf_logs()
    if leaf.own is not None and leaf.own_dimensions is not None:
        return LeafInformation(leaf.own - leaf.log_q, leaf.own_dimensions - dimensions)
    node = row_view(node, leaf.log_q.shape)  # a draw that all items share, item by item
    joint = node.log_prob - leaf.log_q
    if dimensions.shape[-1] == 1:
        return LeafInformation(joint, joint[..., None])
    return LeafInformation(joint, own_logs(node, node.dist) - dimensions)


@dataclass(frozen=True)
class InferenceMarginal:
    """How to estimate the inference marginal q(z) = 1/N Σ_n q(z | x_n) from a batch.

    * ``dataset_size``: N, the number of training items.
    * ``estimator``: ``stratified`` (E19), ``minibatch_weighted``, ``naive`` or ``exact``; see
      :mod:`unknot.objectives.marginal.weights`.
    * ``reference``: the encoder's trace on further items, distinct from the batch's, as more columns. With
      ``exact``, its trace on the *whole* data set, which then replaces the batch as columns.
    * ``encoder``, ``parents``: for variables that depend on each other in the encoder; see
      :mod:`unknot.objectives.marginal.dependent_variables` and :mod:`unknot.objectives.marginal.encoder_parents`.
    * ``pairs``, ``all_pairs``, ``draws``: with a relaxed or continuous parent, how many other items each draw meets
      (or all), and how many draws of a parent are averaged; see :mod:`unknot.objectives.marginal.sampled_parents`.
    * ``vectorized``: the encoder takes given values with an axis of samples before the batch, as it does if it joins
      tensors by ``unknot.cat``: then the further runs are one or two, which is faster.
    """

    dataset_size: int
    estimator: str = "stratified"
    reference: Trace | None = None
    encoder: Encoder | None = None
    parents: Parents | None = None
    all_pairs: bool = False
    pairs: int = 16
    draws: int = 8
    vectorized: bool = False

    def tree(self, q: Trace, groups: Groups) -> Marginal:
        """log q^ of every node of ``groups`` at q's draws."""
        items = _batch_size(q)
        weights = self._mixture(q, items)
        parents = encoder_parents(q, self.parents, self.encoder)
        if any(parents.values()):
            return self._dependent(q, parents, weights, items, groups)
        nodes = [over_items(node, items) for node in q.variables()]
        pairs = {node.name: variable_pairs(node, self._columns(node, items), weights) for node in nodes}
        without = [node for node in nodes if pairs[node.name].marginals is None]
        refusals = {node.name: refusal(node.name, node.dist, "q's") for node in without}
        return marginal_tree(pairs, groups, weights, refusals)

    def group_logs(self, q: Trace, groups: Mapping[str, Sequence[str]]) -> list[Tensor] | None:
        """log q^ of each of some groups, then of all of them together; None where variables depend on each other."""
        items = _batch_size(q)
        if any(encoder_parents(q, self.parents, self.encoder).values()):
            return None
        weights = self._mixture(q, items)
        nodes = [over_items(q[name], items) for names in groups.values() for name in names]
        joints = {node.name: joint_of(node, self._columns(node, items), weights) for node in nodes}
        return joint_logs(joints, groups, weights)

    def _dependent(
        self, q: Trace, parents: Parents, weights: Mixture, items: int, groups: Groups
    ) -> Marginal:
        graph = SiteGraph({node.name: over_items(node, items) for node in q.variables()}, parents)
        for node in graph.nodes.values():
            if node.evidence is not None and node.scored_by == "density":
                raise SpecError(
                    f"site '{node.name}' is relaxed, has evidence on its classes, and variables of the encoder depend "
                    "on each other: this marginal is not implemented; use gradient='enumerate' or 'straight_through'"
                )
        check_names(graph.nodes, groups)
        if self.reference is not None:
            child = next(name for name in parents if parents[name])
            raise SpecError(
                f"site '{child}' depends on {', '.join(parents[child])} in the encoder; a reference trace cannot tell "
                "its parameters at this batch's values. Leave reference out."
            )
        every = self.all_pairs or self.estimator == "exact"
        others = items - 1 if every else min(self.pairs, items - 1)
        sampled = few = None
        if self.encoder is not None:
            dims = {node.name: node.event_dims for node in q.variables()}
            runs = EncoderRuns(self.encoder, items, dims)
            sampled = SampledParents(graph, runs, others, self.draws, self.vectorized)
            few = self._few_columns(others, items, graph.device)
        work = DependentVariables(
            graph, lambda node: self._columns(node, items), weights, few, sampled, items
        )
        return work.tree(groups)

    def _few_columns(self, others: int, items: int, device: torch.device) -> Mixture:
        """Weights of the own item, first, and ``others``."""
        first = torch.zeros(items, dtype=torch.long, device=device)
        return mixture(self.estimator, self.dataset_size, 1 + others, first)

    @property
    def _only_reference(self) -> bool:
        return self.estimator == "exact" and self.reference is not None

    def _mixture(self, q: Trace, items: int) -> Mixture:
        batch = 0 if self._only_reference else items * process_count()
        extra = 0 if self.reference is None else _batch_size(self.reference)
        device = q.variables()[0].value.device
        return mixture(self.estimator, self.dataset_size, batch + extra, own_columns(items, device))

    def _columns(self, node: Variable, items: int) -> Distribution:
        """Parameters of all reference items: the global batch, then the reference batch."""
        own = gather_distribution(item_distribution(node, items))
        if self.reference is None:
            return own
        further = item_distribution(self.reference[node.name], _batch_size(self.reference))
        return further if self._only_reference else join_distributions([own, further], torch.cat)


def _batch_size(q: Trace) -> int:
    if not q.leading_shape:
        raise SpecError("the encoder's trace has no batch: every site needs values for a batch of items")
    if q.leading_shape[-1] == 0:
        raise SpecError(
            "the batch has no items: expected at least one to estimate q(z) from; skip empty batches"
        )
    for node in q.variables():
        if node.value.numel() == 0:
            raise SpecError(
                f"site '{node.name}': its values have shape {tuple(node.value.shape)}, so there is nothing to estimate "
                "a marginal of; leave the site out of both programs"
            )
    return q.leading_shape[-1]
