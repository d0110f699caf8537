"""PriorMarginal: log p of every node of a tree of groups, what the prior itself says of correlations (E19 Fig. 3).

If the prior factorizes, p(z) = Π_d p(z_d), its share of every correlation term is zero. It need not:

* **within a variable**: a multivariate normal or a mixture has marginals in closed form
  (:mod:`unknot.objectives.prior.prior_marginal`);
* **between variables**, a prior program in which one site's parameters come from another's value (a mixture
  prior, an autoregressive one): the root's log p(z) is exact, the sum of the sites' log-probabilities. The
  marginal of a group G is exact, too, if the sites it depends on are discrete
  (:mod:`unknot.objectives.prior.prior_parents`), and else sampled, with M draws of the sites outside it,

      p^(z_G) = 1/M Σ_m Π_{i in G} p(z_i | parents: in G those of the item, outside those of draw m)

  which is unbiased for any graph (the outside sites are drawn in the program's order with G held fixed), and
  low by Jensen's inequality, O(1/M), in its logarithm. For both the prior is run on ``unknot.given``: pass
  ``prior=lambda given: decoder(None, given)``.

A prior that depends on the input alone, p(z | x), factorizes as far as its sites do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core.axes import per_item
from unknot.core.evidence import given
from unknot.core.node import Variable
from unknot.core.numerics import log_mean_exp
from unknot.core.relaxed import Relaxed
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import Parents
from unknot.objectives.marginal.leaf_logs import leaf_log_probs, pair_logs, refusal
from unknot.objectives.marginal.marginal_tree import Groups, Marginal, variable_names
from unknot.objectives.marginal.site_graph import SiteGraph
from unknot.objectives.marginal.variable_pairs import item_distribution, variable_pairs
from unknot.objectives.marginal.weights import naive
from unknot.objectives.parts.groups import leaves
from unknot.objectives.prior.prior_parents import PriorProgram, combinations, prior_parents

# ---- log p of a variable's leaves, in closed form: the prior's share of E19's (ii) -----------------------


def prior_leaves(node: Variable, dimensions: int) -> Tensor | None:
    """log p(z_d) for each leaf of a variable of p, (*rows, D), where D leaves is what q has at this site.

    None if p has no closed form for them, or other leaves than q. What the leaves of a distribution are is in
    :mod:`unknot.objectives.marginal.leaf_logs`; a variable that is one leaf in q is one leaf here: its joint.
    """
    if dimensions == 1:
        return node.log_prob[..., None]
    logs = _own_scores(node)
    rows = node.value.shape[: node.leading_dims]
    if logs is None or logs.shape[: len(rows)] != rows or logs[(0,) * len(rows)].numel() != dimensions:
        return None
    return logs.reshape(*rows, dimensions)


def _own_scores(node: Variable) -> Tensor | None:
    """log p(z_d) elementwise as the site itself is scored: a relaxed draw by the density of u, a label by its mass."""
    if node.scored_by != "density" or not isinstance(node.dist, Relaxed) or node.known is True:
        return leaf_log_probs(node.dist, node.value)
    assert node.unbounded is not None
    density = node.dist.log_density(node.unbounded)
    if node.known is False:
        return density
    leaf_axes = node.event_dims - len(node.dist.event_shape)
    return torch.where(per_item(node.known, leaf_axes), node.dist.log_mass(node.value), density)


def without_evidence(node: Variable) -> Variable:
    """A site of p that scores its value alone; a relaxed draw with evidence has no score of its own."""
    if node.evidence is None or node.scored_by == "density":
        return node
    return node.replace(dist=node.plain, evidence=None)


@dataclass(frozen=True)
class PriorMarginal:
    """The prior of a pair of traces.

    ``program`` and ``draws`` serve sites that depend on each other. Which do is read from the program, or stated as
    ``parents``: see :mod:`unknot.objectives.prior.prior_parents`.
    """

    program: PriorProgram | None = None
    draws: int = 256
    parents: Parents | None = None

    def factorizes(self, p: Trace, names: Sequence[str]) -> bool:
        """Whether none of these sites depends on another, so that the prior has no correlation between them."""
        sites = {name: p[name] for name in p if name in names}
        return not any(prior_parents(sites, self.program, self.parents).values())

    def tree(self, q: Trace, p: Trace, groups: Groups, inference: Marginal) -> Marginal:
        """log p of every node, in the shape of ``inference``, at the same draws."""
        named = variable_names(groups)
        sites = {name: without_evidence(p[name]) for name in p if name in named}  # in the program's order
        parents = prior_parents(sites, self.program, self.parents)
        dependent = [name for name in sites if parents[name]]
        if dependent and self.program is None:
            raise SpecError(
                f"p's sites {', '.join(dependent)} depend on other latent sites, or may (a trace does not "
                "tell), so the prior's group marginals are not products of its sites; pass "
                "prior=lambda given: decoder(None, given) to have them computed, or prior_parents={} if none does"
            )
        groups_of = PriorGroups(SiteGraph(sites, parents), leaves(inference), self.program, self.draws)
        return groups_of.node(groups, root=True)


@dataclass(frozen=True)
class PriorGroups:
    """Works through a tree: what the sites are, in the program's order, and which depend on which."""

    graph: SiteGraph
    inference: Mapping[str, Marginal]  # q's, for every site
    program: PriorProgram | None
    draws: int

    @property
    def sites(self) -> Mapping[str, Variable]:
        return self.graph.nodes

    def node(self, groups: Groups, root: bool) -> Marginal:
        whole = root and len(groups) == 1
        if isinstance(groups, Mapping):
            parts = {name: self.node(part, whole) for name, part in groups.items()}
        else:
            parts = {name: self.leaf(name, whole) for name in groups}
        names = variable_names(groups)
        if len(parts) == 1:
            return Marginal(next(iter(parts.values())).log_q, parts)
        if root or not self.graph.conditions(names):
            first, *others = (self.sites[name].log_prob for name in names)
            return Marginal(sum(others, start=first), parts)
        return Marginal(self.group(names), parts)

    def leaf(self, name: str, whole: bool) -> Marginal:
        """One variable: exact if it depends on nothing or on discrete sites, otherwise sampled."""
        node, q = self.sites[name], self.inference[name]
        size = None if q.dimensions is None else q.dimensions.shape[-1]
        if not self.graph.parents[name] or whole:
            return self._marginal(name, node.log_prob, None if size is None else prior_leaves(node, size))
        by_density = node.scored_by == "density" and size != 1  # a relaxed binary vector
        listed = None if by_density else self._listed([name])
        batch = self.draws if listed is None else _count(listed)
        run = self._run(batch, [name], listed or {})
        dist = item_distribution(run[name], batch)
        pairs = variable_pairs(node, dist, naive(batch, batch))
        has_leaves = pairs.marginals is not None and pairs.marginals.shape[-1] == size
        if listed is None:
            return self._marginal(
                name, log_mean_exp(pairs.joint, -1), pairs.marginals if has_leaves else None
            )
        log_weights = sum((run[one].log_prob for one in listed), start=pairs.joint.new_zeros(batch))
        log_p = torch.logsumexp(pairs.joint + log_weights, -1)
        if size == 1 or not has_leaves:
            return self._marginal(name, log_p, log_p[..., None] if has_leaves else None)
        logs = pair_logs(node, dist, pairs.joint) + log_weights[:, None]
        return Marginal(log_p, dimensions=torch.logsumexp(logs, -2))

    def _marginal(self, name: str, log_p: Tensor, dimensions: Tensor | None) -> Marginal:
        """With the leaves that q has, or with the reason why there are none, q's or p's."""
        reason = self.inference[name].refusal or refusal(name, self.sites[name].dist, "p's")
        return Marginal(log_p, dimensions=dimensions, refusal=reason if dimensions is None else None)

    def group(self, names: list[str]) -> Tensor:
        """log p(z_G): over every value of the discrete sites before G, or over M draws of the sites outside."""
        inside = [self.sites[name] for name in names]
        rows = torch.broadcast_shapes(
            *(node.leading_shape for node in inside),
            *(node.known.shape for node in inside if isinstance(node.known, Tensor)),
        )
        listed = self._listed(names)
        times = self.draws if listed is None else _count(listed)
        held = {node.name: _repeat(node.value, node, rows, times) for node in inside}
        outside = {name: _spread(values, rows) for name, values in (listed or {}).items()}
        run = self._run(rows.numel() * times, names, {**held, **outside})
        logs = [_rescore(node, run[node.name].dist, rows, times) for node in inside]
        logs += [run[name].log_prob for name in outside]
        total = sum(logs[1:], start=logs[0]).reshape(times, *rows)
        return log_mean_exp(total, 0) if listed is None else torch.logsumexp(total, 0)

    def _listed(self, names: list[str]) -> dict[str, Tensor] | None:
        return combinations([self.sites[name] for name in self.graph.outside(names)])

    def _run(self, size: int, names: list[str], held: Mapping[str, Tensor]) -> Trace:
        """The program at ``held`` values; sites that ``names`` do not depend on stay at some value of theirs."""
        assert self.program is not None
        needed = self.graph.ancestors(names)
        idle = {name: _some_value(node, size) for name, node in self.sites.items() if name not in needed}
        event_dims = {name: node.event_dims for name, node in self.sites.items()}
        return self.program(given(size, {**idle, **held}).with_event_dims(event_dims))


def _some_value(node: Variable, size: int) -> Tensor:
    """One value of a site, for ``size`` items."""
    first = node.value.detach()[(0,) * node.leading_dims]
    return first.expand(size, *first.shape)


def _count(listed: Mapping[str, Tensor]) -> int:
    return len(next(iter(listed.values()))) if listed else 1


def _repeat(value: Tensor, node: Variable, rows: torch.Size, times: int) -> Tensor:
    """(*rows, event...) -> (times · rows, event...)."""
    event = value.shape[node.leading_dims :]
    return value.expand(times, *rows, *event).reshape(-1, *event)


def _spread(values: Tensor, rows: torch.Size) -> Tensor:
    """(combinations, event...) -> (combinations · rows, event...)."""
    return values.repeat_interleave(rows.numel(), 0)


def _rescore(node: Variable, dist: Distribution, rows: torch.Size, times: int) -> Tensor:
    """log p of an item's own value, density or mass as the site was scored, under a run's parameters."""
    known = node.known
    if isinstance(known, Tensor):
        known = known.expand(times, *rows).reshape(-1)
    twin = Variable(node.name, dist, _repeat(node.value, node, rows, times), known, 1, node.event_dims)
    twin.gradient, twin.scored_by = node.gradient, node.scored_by
    if node.unbounded is not None:
        twin.unbounded = _repeat(node.unbounded, node, rows, times)
    return twin.log_prob
