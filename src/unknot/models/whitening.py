"""Whitening: what a style says of an item, beside the other items of its class.

For a normal node z that is recognized from the data and from a class y, a network makes m and s of an item, and

    q(z | x, y) = N(m̃, s²)        m̃ = √τ · C_y^(-1/2) · (m - μ_y)        τ = 0.9

with μ_y and C_y the mean and the covariance of m over the items of class y. So m̃ has mean zero and covariance τ within
every class: no reader of first and second moments finds the class in the style, and the same z is the same place among
the items of a class, whatever the class. The rest of the prior's variance, 1 - τ, is left to s². No dimension can be
left unused, since its means vary in any case (as in Zhu et al. 2020, who fix their variance for that reason). Of all
linear maps that whiten, the symmetric root changes m least (Kessy et al. 2018).

The density needs no correction: m̃ is a mean like any other, only computed in another way. For a relaxed y the means of
the classes are mixed, ``Σ_k y_k m̃_k``. The moments are moving ones, by the labels or draws of y in the batches of
training; they carry no gradient, are kept with the weights, and stand still when training is over.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unknot.core.distributions import without_autocast

_RATE = 0.02  # of a batch in the moving moments: they are those of the last fifty
_LEAST = 1e-12  # of a class that does not occur any more
_SMALLEST = 1e-6  # variance that is made one
_SIGNAL = 0.9  # τ


class Whitening(nn.Module):
    """The map from m to m̃, and the moments of m that it needs.

    Arguments:
        classes: how many classes y has.
        size: how many numbers z has.

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
        # as if each class had one item, of mean zero and variance one: moving sums forget it
        self.register_buffer("count", torch.ones(classes))
        self.register_buffer("total", torch.zeros(classes, size))
        self.register_buffer("square", torch.eye(size).repeat(classes, 1, 1))

    def forward(self, outputs: Tensor, classes: Tensor) -> Tensor:
        """Outputs of the recognition network ``(..., 2 D)`` with m̃ in the place of m; ``classes`` is y ``(..., K)``."""
        kind = self.total.dtype  # moments in half precision would not be moments
        mean, raw = outputs.to(kind).chunk(2, -1)
        apart = mean.unsqueeze(-2) - self.mean()  # (..., K, D)
        with without_autocast(apart):
            white = torch.einsum("...k,kij,...kj->...i", classes.to(kind), self.matrix(), apart)
        return torch.cat([white, raw.expand(*white.shape[:-1], -1)], -1)

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
    def renew(self, outputs: Tensor, classes: Tensor) -> None:
        """Take a batch into the moving moments; that of all processes where there are several."""
        mean = outputs.chunk(2, -1)[0].expand(*classes.shape[:-1], -1).flatten(0, -2)  # (N, D)
        mean, classes = mean.to(self.total.dtype), classes.flatten(0, -2).to(self.total.dtype)  # (N, K)
        with without_autocast(mean):
            sums = (classes.sum(0), classes.T @ mean, torch.einsum("nk,ni,nj->kij", classes, mean, mean))
        for kept, new in zip((self.count, self.total, self.square), sums, strict=True):
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                torch.distributed.all_reduce(new)
            kept.lerp_(new, _RATE)
