"""Whitening: the means of a style, relative to the other items of the same class.

For a normal node z that is inferred from the data and from a class y, a network makes m and s of an item, and

    q(z | x, y) = N(m̃, s²)        m̃ = √τ · C_y^(-1/2) · (m - μ_y)        τ = 0.9

with μ_y and C_y the mean and the covariance of m over the items of class y. So m̃ has mean zero and covariance τ within
every class: first and second moments of the style say nothing about the class, and the same z is the same place among
the items of a class, whatever the class. The rest of the prior's variance, 1 - τ, is left to s². No dimension can be
left unused, since its means always vary (as in Zhu et al. 2020, who fix their variance for that reason). Of all
linear maps that whiten, the symmetric root changes m least (Kessy et al. 2018).

The density needs no correction, because m̃ is a mean like any other. For a relaxed y the means of the classes are
mixed, ``Σ_k y_k m̃_k``. The moments are running ones, by the labels or draws of y in the batches of training; they
carry no gradient, are saved with the weights, and do not change after training.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from unknot.core.distributions import without_autocast
from unknot.errors import SpecError
from unknot.models.families import FAMILIES
from unknot.models.node_spec import NodeSpec

_RATE = 0.02  # of a batch in the running moments: about the last fifty batches count
_LEAST = 1e-12  # of a class that does not occur any more
_SMALLEST = 1e-6  # variance that is scaled to one
_SIGNAL = 0.9  # τ


class Whitening(nn.Module):
    """The map from m to m̃, and the moments of m that it needs.

    Parameters
    ----------
    classes : int
        Number of classes of y.
    size : int
        Dimensions of z.

    Examples
    --------
    >>> white = Whitening(classes=2, size=3)
    >>> outputs, y = torch.randn(5, 6), torch.eye(2)[[0, 1, 1, 0, 1]]
    >>> torch.allclose(white(outputs, y)[:, :3], 0.9**0.5 * outputs[:, :3])  # before it has seen anything
    True
    """

    count: Tensor
    total: Tensor
    square: Tensor

    def __init__(self, classes: int, size: int) -> None:
        super().__init__()
        # each class starts with one item, of mean zero and variance one, which the running sums forget
        self.register_buffer("count", torch.ones(classes))
        self.register_buffer("total", torch.zeros(classes, size))
        self.register_buffer("square", torch.eye(size).repeat(classes, 1, 1))
        self.folded: tuple[Tensor, Tensor] | None = None

    def forward(self, outputs: Tensor, classes: Tensor) -> Tensor:
        """Outputs of the recognition network ``(..., 2 D)`` with m̃ in the place of m; ``classes`` is y ``(..., K)``."""
        kind = self.total.dtype  # moments in half precision would not be moments
        mean, raw = outputs.to(kind).chunk(2, -1)
        if self.folded is not None:
            each = linear(mean, *self.folded).unflatten(-1, (len(self.count), -1))  # (..., K, D)
            white = (classes.to(kind).unsqueeze(-1) * each).sum(-2)
            return torch.cat([white, raw.expand(*white.shape[:-1], -1)], -1)
        apart = mean.unsqueeze(-2) - self.mean()  # (..., K, D)
        with without_autocast(apart):
            white = torch.einsum("...k,kij,...kj->...i", classes.to(kind), self.matrix(), apart)
        return torch.cat([white, raw.expand(*white.shape[:-1], -1)], -1)

    def run(self, outputs: Tensor, classes: Tensor, learn: bool) -> Tensor:
        """Return whitened outputs; with ``learn`` and gradients, update the running moments first."""
        if learn and torch.is_grad_enabled():  # not where a program is only run to inspect it
            self.update(outputs.detach(), classes.detach())
        result: Tensor = self(outputs, classes)
        return result

    @torch.no_grad()
    def fold(self) -> None:
        """Compute the affine maps of all classes once, for a model that is not trained any further.

        An exported graph then has no eigendecomposition. :meth:`update` forgets them.
        """
        matrix = self.matrix()
        shift = -(matrix @ self.mean().unsqueeze(-1)).squeeze(-1)
        self.folded = matrix.flatten(0, 1), shift.flatten()

    def mean(self) -> Tensor:
        """μ ``(K, D)``."""
        return self.total / (self.count + _LEAST).unsqueeze(-1)

    def covariance(self) -> Tensor:
        """C ``(K, D, D)``."""
        eye = torch.eye(self.total.shape[-1], dtype=self.total.dtype, device=self.total.device)
        second = (self.square + _LEAST * eye) / (self.count + _LEAST).view(-1, 1, 1)
        return second - self.mean().unsqueeze(-1) * self.mean().unsqueeze(-2)

    def matrix(self) -> Tensor:
        """√τ · C_y^(-1/2) of every class, ``(K, D, D)``."""
        values, vectors = torch.linalg.eigh(self.covariance())
        return vectors * (values.clamp_min(_SMALLEST) / _SIGNAL).rsqrt().unsqueeze(-2) @ vectors.mT

    @torch.no_grad()
    def update(self, outputs: Tensor, classes: Tensor) -> None:
        """Update the running moments with a batch; with several processes, with the batches of all."""
        self.folded = None
        mean = outputs.chunk(2, -1)[0].expand(*classes.shape[:-1], -1).flatten(0, -2)  # (N, D)
        mean, classes = mean.to(self.total.dtype), classes.flatten(0, -2).to(self.total.dtype)  # (N, K)
        with without_autocast(mean):
            sums = (classes.sum(0), classes.T @ mean, torch.einsum("nk,ni,nj->kij", classes, mean, mean))
        for kept, new in zip((self.count, self.total, self.square), sums, strict=True):
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                torch.distributed.all_reduce(new)
            kept.lerp_(new, _RATE)


def check_whitening(node: NodeSpec, classes: str, nodes: Sequence[NodeSpec]) -> None:
    """Refuse whitening of anything but a normal node without labels, within classes that it is inferred from."""
    other = next((one for one in nodes if one.name == classes), None)
    suits = node.family.name == "normal" and classes in node.inferred_from and not node.labels
    if not suits or other is None or other.is_data or not FAMILIES[other.family.name].has_classes:
        raise SpecError(
            f"node '{node.name}': whiten is for a normal node without labels, and names a node of classes that it is "
            f"inferred from, but got '{classes}' for a {node.family} node inferred from "
            f"{', '.join(node.inferred_from) or 'nothing'}"
        )
    if (other.gradient or FAMILIES[other.family.name].default_gradient) == "enumerate":
        raise SpecError(
            f"node '{node.name}': whiten uses the moments of draws of '{classes}', which is enumerated; "
            "choose another gradient"
        )
