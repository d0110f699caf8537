"""Covariance of the codes over the data set, and its distance from the prior's (DIP-VAE, Kumar et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import torch
from torch import Tensor
from torch.distributions import Independent, LowRankMultivariateNormal, MultivariateNormal, Normal

from unknot.core.expectation import average
from unknot.core.node import Variable
from unknot.core.numerics import where_unknown
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import Options, split_options
from unknot.objectives.marginal.encoder_parents import own_leading
from unknot.objectives.marginal.gather import gather_items
from unknot.objectives.marginal.inference_marginal import leaf_information
from unknot.objectives.marginal.marginal_tree import Groups
from unknot.objectives.parts.class_parts import class_parts, class_sites
from unknot.objectives.parts.site_terms import log_ratio, proposals
from unknot.suggest import did_you_mean

# How many nats the codes use, and how many they should: one capacity for all, or one for each variable.


def excess_by_site(q: Trace, p: Trace, capacities: Mapping[str, float]) -> dict[str, Tensor]:
    """KL(q(v | x) || p(v)) - C_v of every variable v, a scalar each, as ``capacity[v]`` (Dupont 2018).

    The divergence is the mean over the global batch; that of a class is by its exact masses, of others by draws.
    """
    names = [node.name for node in q.variables()]
    for name in capacities:
        if name not in names:
            raise SpecError(f"capacity_vae, C: there is no variable '{name}'; {did_you_mean(name, names)}")
    missing = [name for name in names if name not in capacities]
    if missing:
        raise SpecError(
            f"capacity_vae, C: it has no capacity for {', '.join(missing)}; say one for each, or one number."
        )
    classes, sites = class_sites(q), proposals(q, p)
    found: dict[str, Tensor] = {}
    for node in q.variables():
        parts = class_parts(q, p, node.name) if node.name in classes else (log_ratio(node, p),)
        log_ratios = sum(parts[1:], start=parts[0])
        kl = -gather_items(average(sites, log_ratios)).mean()
        found[f"capacity[{node.name}]"] = kl - capacities[node.name]
    return found


# ---- The information of anchor variables (AnchorVAE, Gao et al. 2018; E19 Table 1, (2)^a) ----------------


def anchor_information(
    q: Trace, dataset_size: int, anchors: Sequence[str] | Mapping[str, Sequence[int]], options: Options
) -> Tensor:
    """log q(z_a | x) - log q(z_a) at every draw: of named variables jointly, or Σ over single dimensions.

    Zero for items that know one of the anchors: what is given needs no information.
    """
    marginals, _ = split_options(q, None, dataset_size, options)
    names = [anchors] if isinstance(anchors, str) else list(anchors)
    _check_names(names, [node.name for node in q.variables()])
    if isinstance(anchors, Mapping):
        _, found = leaf_information(q, marginals, names)
        parts = [found[name].dimensions[..., list(anchors[name])].sum(-1) for name in names]
        return _where_all_drawn(q, names, sum(parts[1:], start=parts[0]))
    rest = [node.name for node in q.variables() if node.name not in names]
    groups: Groups = {"anchors": names, "rest": rest} if rest else {"anchors": names}
    tree = marginals.tree(q, groups)
    own = [q[name].log_prob for name in names]
    return _where_all_drawn(q, names, sum(own[1:], start=own[0]) - tree.parts["anchors"].log_q)


def _where_all_drawn(q: Trace, names: Sequence[str], values: Tensor) -> Tensor:
    for name in names:
        values = where_unknown(q[name].known, values)
    return values


def _check_names(names: Sequence[str], variables: Sequence[str]) -> None:
    unknown = [name for name in names if name not in variables]
    if unknown or not names:
        raise SpecError(
            f"anchor_vae: expected names among the variables {', '.join(variables)}, got {unknown or 'none'}"
        )


class Covariance(StrEnum):
    """Which covariance DIP-VAE matches: of the encoder's means (I), or of z under q(z) (II)."""

    I = "I"  # noqa: E741 (the paper's numeral)
    II = "II"

    @classmethod
    def _missing_(cls, value: object) -> Covariance:
        raise SpecError(f"dip_vae: kind is 'I' or 'II', got {value!r}")


def covariance_penalties(
    q: Trace, p: Trace, kind: Covariance, variables: Sequence[str] | None = None
) -> dict[str, Tensor]:
    """``off_diagonal`` Σ_{i≠j} C_ij² and ``diagonal`` Σ_i (C_ii - V_i)², two numbers for the global batch."""
    nodes = normal_variables(q, variables)
    items = q.leading_shape[-1]
    mean = gather_items(torch.cat([_flat(node, "mean", items) for node in nodes], -1))
    covariance = code_covariance(mean)
    if kind is Covariance.II:
        covariance = covariance + torch.block_diag(*(_mean_covariance(node, items) for node in nodes))
    target = torch.cat([_flat(p[node.name], "variance", items) for node in nodes], -1).mean(0)
    diagonal = covariance.diagonal()
    off_diagonal = covariance - torch.diag(diagonal)
    return {"off_diagonal": off_diagonal.square().sum(), "diagonal": (diagonal - target).square().sum()}


def code_covariance(mean: Tensor) -> Tensor:
    """Covariance over items of codes (B, D): E[μμᵀ] - E[μ]E[μ]ᵀ, shape (D, D)."""
    centered = mean - mean.mean(0)
    return centered.mT @ centered / mean.shape[0]


def normal_variables(q: Trace, names: Sequence[str] | None) -> list[Variable]:
    """The named variables, or all Normal ones, diagonal or multivariate; they must be independent given x."""
    nodes = [q[name] for name in names] if names is not None else [n for n in q.variables() if _is_normal(n)]
    wrong = [node.name for node in nodes if not _is_normal(node) or len(own_leading(node)) > 1]
    if wrong or not nodes:
        raise SpecError(
            f"dip_vae: expected Normal variables whose parameters come from x alone, got {wrong or 'none'}; "
            "name the ones to use with variables=[...]"
        )
    return nodes


def _is_normal(node: Variable) -> bool:
    if isinstance(node.dist, MultivariateNormal | LowRankMultivariateNormal):
        return node.event_dims == 1
    dist = node.dist.base_dist if isinstance(node.dist, Independent) else node.dist
    return isinstance(dist, Normal)


def _mean_covariance(node: Variable, items: int) -> Tensor:
    """The mean over the global batch of the covariance of z given x, (D, D)."""
    if isinstance(node.dist, MultivariateNormal | LowRankMultivariateNormal):
        covariance = node.dist.covariance_matrix
        return gather_items(covariance.expand(items, *covariance.shape[-2:])).mean(0)
    return torch.diag(gather_items(_flat(node, "variance", items)).mean(0))


def _flat(node: Variable, moment: str, items: int) -> Tensor:
    """A moment of a variable as (B, D), broadcast over items and dimensions."""
    event = node.value.shape[node.leading_dims :]
    return getattr(node.dist, moment).expand(items, *event).reshape(items, -1)
