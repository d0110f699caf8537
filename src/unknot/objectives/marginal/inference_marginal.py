"""InferenceMarginal: log q of every node of a tree of groups, estimated from an encoder's trace (E19 sec. 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.distributions import Distribution

from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal import pairwise
from unknot.objectives.marginal.dependent_variables import (
    Encoder,
    ParentTables,
    enumerated_tables,
    is_finite_parent,
    pair_log_probs,
    refuse_parents,
)
from unknot.objectives.marginal.encoder_parents import Parents, encoder_parents
from unknot.objectives.marginal.gather import gather_distribution, own_columns, process_count
from unknot.objectives.marginal.join_distributions import join_distributions
from unknot.objectives.marginal.marginal_tree import Groups, Marginal, marginal_tree
from unknot.objectives.marginal.pairwise import Pairs
from unknot.objectives.marginal.variable_pairs import item_distribution, variable_pairs
from unknot.objectives.marginal.weights import Mixture, mixture


@dataclass(frozen=True)
class InferenceMarginal:
    """How to estimate the inference marginal q(z) = 1/N Σ_n q(z | x_n) from a batch.

    * ``dataset_size``: N, the number of training items.
    * ``estimator``: ``stratified`` (E19), ``minibatch_weighted``, ``naive`` or ``exact``; see
      :mod:`unknot.objectives.marginal.weights`.
    * ``reference``: the encoder's trace on further items, distinct from the batch's, as more columns. With
      ``exact``, its trace on the *whole* data set, which then replaces the batch as columns.
    * ``encoder``, ``parents``, ``every_pair``: for variables that depend on each other in the encoder; see
      :mod:`unknot.objectives.marginal.dependent_variables` and :mod:`unknot.objectives.marginal.encoder_parents`.
    """

    dataset_size: int
    estimator: str = "stratified"
    reference: Trace | None = None
    encoder: Encoder | None = None
    parents: Parents | None = None
    every_pair: bool = False

    def tree(self, q: Trace, groups: Groups) -> Marginal:
        """log q^ of every node of ``groups`` at q's draws."""
        items = _batch_size(q)
        weights = self._mixture(q, items)
        parents = encoder_parents(q, self.parents, can_rerun=self.encoder is not None)
        runs = None if self.encoder is None else ParentTables(self.encoder, items)
        pairs = {
            node.name: self._pairs(node, [q[name] for name in parents[node.name]], weights, items, runs)
            for node in q.variables()
        }
        return marginal_tree(pairs, groups, weights)

    @property
    def _only_reference(self) -> bool:
        return self.estimator == "exact" and self.reference is not None

    def _mixture(self, q: Trace, items: int) -> Mixture:
        batch = 0 if self._only_reference else items * process_count()
        extra = 0 if self.reference is None else _batch_size(self.reference)
        device = q.variables()[0].value.device
        return mixture(self.estimator, self.dataset_size, batch + extra, own_columns(items, device))

    def _pairs(
        self, node: Variable, parents: list[Variable], weights: Mixture, items: int, runs: ParentTables | None
    ) -> Pairs:
        if not parents:
            return variable_pairs(node, self._columns(node, items), weights)
        if self.reference is not None:
            raise SpecError(
                f"site '{node.name}' depends on {', '.join(one.name for one in parents)} in the encoder; a reference "
                "trace cannot tell its parameters at this batch's values. Leave reference out."
            )
        tables = enumerated_tables(node, items) if all(one.enumerated for one in parents) else None
        if tables is None and runs is not None and all(is_finite_parent(one) for one in parents):
            tables = runs.tables(node, parents)
        if tables is not None:
            return variable_pairs(node, gather_distribution(tables.dist, axis=1), weights, tables.parent)
        if self.every_pair and self.encoder is not None and process_count() == 1:
            return pairwise.evaluated(pair_log_probs(node, parents, self.encoder, items), weights)
        return refuse_parents(node, parents)

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
    return q.leading_shape[-1]
