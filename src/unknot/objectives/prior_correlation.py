"""log p of every node of a tree of groups: what the prior itself says of correlations (E19 Fig. 3).

If the prior factorises, p(z) = Π_d p(z_d), its share of every correlation term is zero. It need not:

* **within a variable**: a multivariate normal or a mixture has marginals in closed form
  (:mod:`unknot.objectives.prior_leaves`);
* **between variables**, a prior program in which one site's parameters come from another's value (a mixture
  prior, an autoregressive one): the root's log p(z) is exact, the sum of the sites' log-probabilities; the
  marginal of a group G is sampled, with M draws of the sites outside it,

      p^(z_G) = 1/M Σ_m Π_{i in G} p(z_i | parents: in G those of the item, outside those of draw m)

  which is unbiased for any graph (the outside sites are drawn in the program's order with G held fixed), and
  low by Jensen's inequality, O(1/M), in its logarithm. For this the prior is run on ``unknot.given``: pass
  ``prior=lambda given: decoder(None, given)``.

A prior that depends on the input alone, p(z | x), factorises as far as its sites do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core import validation
from unknot.core.given import Given, given
from unknot.core.log_space import log_mean_exp
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.encoder_parents import own_leading, reached, tensors_behind
from unknot.objectives.factor_pairs import factor_pairs, item_distribution
from unknot.objectives.groups import leaves
from unknot.objectives.inference_marginal import Groups, Marginal, factor_names
from unknot.objectives.marginal_weights import naive
from unknot.objectives.prior_leaves import prior_leaves

PriorProgram = Callable[[Given], Trace]


@dataclass(frozen=True)
class Prior:
    """The prior of a pair of traces. ``program`` and ``draws`` serve sites that depend on each other."""

    program: PriorProgram | None = None
    draws: int = 256

    def tree(self, q: Trace, p: Trace, groups: Groups, inference: Marginal) -> Marginal:
        """log p of every node, in the shape of ``inference``, at the same draws."""
        sites = {name: p[name] for name in factor_names(groups)}
        dependent = [name for name, node in sites.items() if _depends(node, q)]
        if dependent and self.program is None:
            raise SpecError(
                f"p's sites {', '.join(dependent)} depend on other latent sites, so the prior's group marginals are "
                "not products of its sites; pass prior=lambda given: decoder(None, given) to have them sampled"
            )
        sizes = {name: _size(leaf) for name, leaf in leaves(inference).items()}
        return self._node(sites, dependent, groups, sizes, root=True)

    def _node(
        self,
        sites: Mapping[str, Variable],
        dependent: list[str],
        groups: Groups,
        sizes: Mapping[str, int],
        root: bool,
    ) -> Marginal:
        if isinstance(groups, Mapping):
            parts = {
                name: self._node(sites, dependent, part, sizes, root=root and len(groups) == 1)
                for name, part in groups.items()
            }
        else:
            whole = root and len(groups) == 1
            parts = {name: self._leaf(sites[name], name in dependent, sizes[name], whole) for name in groups}
        names = factor_names(groups)
        if len(parts) == 1:
            return Marginal(next(iter(parts.values())).log_q, parts)
        if root or not dependent:
            return Marginal(_sum_log_prob(sites, names), parts)
        return Marginal(self._group(sites, names), parts)

    def _leaf(self, node: Variable, is_dependent: bool, size: int, whole: bool) -> Marginal:
        if not is_dependent or whole:
            return Marginal(node.log_prob, dimensions=prior_leaves(node, size))
        columns = item_distribution(self._run(self.draws, {})[node.name], self.draws)
        pairs = factor_pairs(node, columns, naive(self.draws, self.draws))
        if pairs.marginals.shape[-1] != size:
            raise SpecError(
                f"site '{node.name}': q has {size} single dimensions, p's {type(node.dist).__name__} given its parents "
                f"has {pairs.marginals.shape[-1]}; use independent dimensions in p"
            )
        return Marginal(log_mean_exp(pairs.joint, -1), dimensions=pairs.marginals)

    def _group(self, sites: Mapping[str, Variable], names: list[str]) -> Tensor:
        """log p^(z_G) by drawing the other sites with G held at each item's values, M times."""
        inside = [sites[name] for name in names]
        rows = torch.broadcast_shapes(*(node.value.shape[: node.leading_dims] for node in inside))
        size = rows.numel() * self.draws
        held = {node.name: self._repeat(node.value, node, rows) for node in inside}
        run = self._run(size, held)
        logs = [self._rescore(node, run[node.name].dist, rows) for node in inside]
        return log_mean_exp(sum(logs[1:], start=logs[0]).reshape(self.draws, *rows), 0)

    def _rescore(self, node: Variable, dist: Distribution, rows: torch.Size) -> Tensor:
        """log p of an item's own value, density or mass as the site was scored, under the run's parameters."""
        value = self._repeat(node.value, node, rows)
        known = node.known
        if isinstance(known, Tensor):
            known = known.expand(self.draws, *rows).reshape(-1)
        twin = Variable(node.name, dist, value, known, 1, node.event_dims)
        twin.gradient, twin.scored_by = node.gradient, node.scored_by
        if node.unbounded is not None:
            twin.unbounded = self._repeat(node.unbounded, node, rows)
        return twin.log_prob

    def _repeat(self, value: Tensor, node: Variable, rows: torch.Size) -> Tensor:
        """(*rows, event...) -> (M rows, event...)."""
        event = value.shape[node.leading_dims :]
        return value.expand(self.draws, *rows, *event).reshape(-1, *event)

    def _run(self, size: int, held: Mapping[str, Tensor]) -> Trace:
        assert self.program is not None
        return self.program(given(size, dict(held)))


def _depends(node: Variable, q: Trace) -> bool:
    """Whether p's parameters at a site come from other latent values.

    Parameters without a batch axis, or equal for all items, do not. If they differ, a path to a latent value
    decides; where a latent value carries no gradient no path can show, and they are taken to depend on it.
    """
    tensors, lead = tensors_behind(node.dist), own_leading(node)
    if not lead or not any(_varies(tensor, lead) for tensor in tensors):
        return False
    others = [one for one in q.variables() if one.name != node.name]
    if not validation.is_on() or any(not one.value.requires_grad for one in others):
        return bool(others)
    return bool(reached(tensors, others))


def _varies(tensor: Tensor, lead: torch.Size) -> bool:
    """Whether a parameter differs between items; expanded axes (stride zero) cannot."""
    if tensor.shape[: len(lead)] != lead:
        return False  # shared by all items
    if all(size == 1 or tensor.stride(axis) == 0 for axis, size in enumerate(lead)):
        return False
    if torch.compiler.is_compiling():
        return True
    flat = tensor.detach().flatten(0, len(lead) - 1)
    return bool((flat != flat[:1]).any())


def _sum_log_prob(sites: Mapping[str, Variable], names: list[str]) -> Tensor:
    first, *others = (sites[name].log_prob for name in names)
    return sum(others, start=first)


def _size(leaf: Marginal) -> int:
    assert leaf.dimensions is not None
    return leaf.dimensions.shape[-1]
