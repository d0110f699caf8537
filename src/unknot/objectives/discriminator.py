"""FactorVAE's density ratio: a classifier that tells q(z) from the product of its marginals (Kim & Mnih 2018).

Draws of Π_d q(z_d) are made from draws of q(z) by permuting every dimension over the batch on its own. For a
classifier with log-odds D(z), at its optimum,

    D(z) = log q(z) / Π_d q(z_d),    so    TC(z) = E_q(z) D(z)

One step of training is two: the model's on one batch, with D fixed, and the discriminator's on another batch,
with the encoder fixed::

    terms = factor_vae(q, p, discriminator, gamma=10.0)
    terms.loss.backward(); model_optimizer.step()
    discriminator_loss(discriminator, encoder(other_x)).backward(); discriminator_optimizer.step()

``discriminator_loss`` detaches the draws; the model's optimizer must not hold D's parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.distributions import Dirichlet, Independent, LogisticNormal
from torch.nn.functional import softplus

from unknot.core.axes import cat
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import expected_terms
from unknot.objectives.marginal.leaf_logs import is_one_leaf
from unknot.objectives.parts.site_terms import elbo_parts
from unknot.objectives.terms import Terms


class Discriminator(nn.Module):
    """Leaky-ReLU network z -> log-odds that z comes from q(z) rather than from permuted draws.

    Arguments:

    * ``dimensions``: the numbers in one draw of all the variables it looks at; a one-of-K variable counts K;
    * ``hidden``, ``layers``: units of a hidden layer, and how many layers there are. The authors' has six of 1000; the
      default is smaller, for CPUs;
    * ``slope``: of the leaky ReLU below zero.
    """

    def __init__(self, dimensions: int, hidden: int = 256, layers: int = 4, slope: float = 0.2) -> None:
        super().__init__()
        self.dimensions = dimensions
        blocks: list[nn.Module] = []
        for before in [dimensions, *[hidden] * (layers - 1)]:
            blocks += [nn.Linear(before, hidden), nn.LeakyReLU(slope)]
        self.net = nn.Sequential(*blocks, nn.Linear(hidden, 1))

    def forward(self, z: Tensor) -> Tensor:
        """Log-odds (...) of draws ``z`` (..., D)."""
        if z.shape[-1] != self.dimensions:
            raise SpecError(
                f"discriminator: made for {self.dimensions} dimensions, got draws of {z.shape[-1]}; a variable "
                "counts each entry of its value, a one-of-K variable K"
            )
        return self.net(z).squeeze(-1)


def discriminator_log_ratio(
    discriminator: nn.Module, q: Trace, variables: Sequence[str] | None = None
) -> Tensor:
    """log q(z) / Π_d q(z_d) at every draw, with gradient to z and none to the discriminator's weights."""
    weights = dict(discriminator.named_parameters())
    fixed = {name: weight.detach() for name, weight in weights.items()}
    z = cat([part for part, _ in joined_draws(q, variables)], -1)
    result: Tensor = torch.func.functional_call(discriminator, fixed, (z,))
    return result


def discriminator_loss(discriminator: nn.Module, q: Trace, variables: Sequence[str] | None = None) -> Tensor:
    """Cross-entropy of telling draws from permuted draws: ½ E softplus(-D(z)) + ½ E softplus(D(z_permuted)).

    Arguments:

    * ``discriminator``: a network from draws (..., D) to log-odds (...), such as :class:`Discriminator`;
    * ``q``: the encoder's trace of a batch, best another one than the model's step has seen;
    * ``variables``: the names of the variables to look at, by default all.

    Returns one number, for the discriminator's own optimizer; no gradient reaches the encoder.
    """
    draws = joined_draws(q, variables)
    with torch.no_grad():
        z = cat([part for part, _ in draws], -1)
        z = z.reshape(-1, z.shape[-1])
        permuted = permute_dimensions(
            z, [width for part, width in draws for _ in range(part.shape[-1] // width)]
        )
    return 0.5 * softplus(-discriminator(z)).mean() + 0.5 * softplus(discriminator(permuted)).mean()


def permute_dimensions(z: Tensor, widths: Sequence[int]) -> Tensor:
    """Permute blocks of columns of z (B, D) over the batch, each block on its own.

    A number is a block of width one; a one-of-K variable is a block of width K and stays whole.
    """
    blocks = z.split(list(widths), -1)
    return torch.cat([block[torch.randperm(len(z), device=z.device)] for block in blocks], -1)


def joined_draws(q: Trace, variables: Sequence[str] | None) -> list[tuple[Tensor, int]]:
    """Values (*rows, D) of the named variables, or of all, and how many of their columns make a leaf.

    A leaf is a single dimension, of a multivariate normal too, or one of K: see
    :mod:`unknot.objectives.marginal.leaf_logs`.
    """
    nodes = [q[name] for name in variables] if variables is not None else q.variables()
    found = []
    for node in nodes:
        if node.enumerated:
            raise SpecError(
                f"factor_vae: site '{node.name}' is enumerated; the discriminator needs draws, so use "
                "gradient='concrete' or 'straight_through' there"
            )
        value = node.value if node.value.is_floating_point() else node.value.to(torch.get_default_dtype())
        rows = value.shape[: node.leading_dims]
        found.append((value.reshape(*rows, -1), _leaf_width(node)))
    return found


def _leaf_width(node: Variable) -> int:
    dist = node.dist
    while isinstance(dist, Independent):
        dist = dist.base_dist
    if is_one_leaf(dist):
        return dist.event_shape.numel()
    if isinstance(dist, Dirichlet | LogisticNormal):
        raise SpecError(
            f"factor_vae: the shares of site '{node.name}' add up to one, so that permuted draws of single shares are "
            "no shares and their total correlation is infinite; leave the site out with variables=[...]"
        )
    return 1


def factor_vae(
    q: Trace,
    p: Trace,
    discriminator: Discriminator,
    gamma: float = 10.0,
    variables: Sequence[str] | None = None,
) -> Terms:
    """(1)+(2)+(3)+(4) - γ TC: β-TCVAE with TC from a discriminator (Kim & Mnih 2018).

    As β-TCVAE it is (1)+(2)+(3) + (ii) + β(A)* with β = 1 + γ. The discriminator tells draws of q(z) from draws
    with permuted dimensions, and its log-odds estimate log q(z) / Π_d q(z_d). Train it beside the model with
    :func:`~unknot.objectives.discriminator.discriminator_loss`. Rewards independent dimensions.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``discriminator``: the network from draws to log-odds; it gets no gradient here;
    * ``gamma``: γ, the extra weight of total correlation;
    * ``variables``: the names of the variables the discriminator looks at, by default all.

    Returns ``Terms``: ``reconstruction``, ``kl`` and ``total_correlation``.
    """
    values = elbo_parts(q, p)
    values["total_correlation"] = -discriminator_log_ratio(discriminator, q, variables)
    return expected_terms(q, p, values, {"total_correlation": gamma})


class FactorVAE(nn.Module):
    """The objective ``{"name": "factor_vae", "gamma": 10}`` with its discriminator (Kim & Mnih 2018).

    Parameters
    ----------
    q : Trace
        A trace of the encoder, for the size of the discriminator.
    gamma, variables
        What :func:`factor_vae` takes.
    """

    def __init__(self, q: Trace, gamma: float = 10.0, variables: Sequence[str] | None = None) -> None:
        super().__init__()
        self.gamma, self.variables = gamma, variables
        self.discriminator = Discriminator(sum(part.shape[-1] for part, _ in joined_draws(q, variables)))

    def forward(self, q: Trace, p: Trace) -> Terms:
        return factor_vae(q, p, self.discriminator, self.gamma, self.variables)

    def own_loss(self, q: Trace) -> Tensor:
        """Return what the discriminator minimizes; no gradient reaches the model."""
        return discriminator_loss(self.discriminator, q, self.variables)
