"""Covariance of the codes over the data set, and its distance from the prior's (DIP-VAE, Kumar et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import torch
from torch import Tensor
from torch.distributions import Independent, LowRankMultivariateNormal, MultivariateNormal, Normal

from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import own_leading
from unknot.objectives.marginal.gather import gather_items


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
