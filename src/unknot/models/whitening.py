"""Whitening: what a style says of an item, beside the other items of its class.

For a normal node z that is recognised from the data and from a class y, a network makes m and s of an item, and

    q(z | x, y) = N(m̃, s²)        m̃ = √(1 - s̄²) · C_y^(-1/2) · (m - μ_y)

with μ_y and C_y the mean and the covariance of m over the items of class y, and s̄² the mean of s² over all items. So m̃
has mean zero and covariance 1 - s̄² within every class: no reader of first and second moments finds the class in the
style, and q(z) has the prior's mean and variances. The same z is the same place among the items of a class, whatever
the class. Of all linear maps that whiten, the symmetric root changes m least (Kessy et al. 2018).

The density needs no correction: m̃ is a mean like any other, only computed in another way. For a relaxed y the means of
the classes are mixed, ``Σ_k y_k m̃_k``. The moments are moving ones, by the labels or draws of y in the batches of
training; they carry no gradient, are kept with the weights, and stand still when training is over.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unknot.models.families.normal import location_and_scale

_RATE = 0.02  # of a batch in the moving moments: they are those of the last fifty
_LEAST = 1e-12  # of a class that does not occur any more
_SMALLEST = 1e-6  # variance that is made one
_SMALLEST_SIGNAL = 0.01  # of 1 - s̄²: a dimension that says nothing of an item stays small


class Whitening(nn.Module):
    """The map from m to m̃, and the moments of m that it needs.

    Arguments:
        classes: how many classes y has.
        size: how many numbers z has.

    >>> white = Whitening(classes=2, size=3)
    >>> outputs, y = torch.randn(5, 6), torch.eye(2)[[0, 1, 1, 0, 1]]
    >>> torch.equal(white(outputs, y), outputs)  # before it has seen anything
    True
    """

    count: Tensor
    total: Tensor
    square: Tensor
    noise: Tensor

    def __init__(self, classes: int, size: int) -> None:
        super().__init__()
        # as if each class had one item, of mean zero and variance one: moving sums forget it
        self.register_buffer("count", torch.ones(classes))
        self.register_buffer("total", torch.zeros(classes, size))
        self.register_buffer("square", torch.eye(size).repeat(classes, 1, 1))
        self.register_buffer("noise", torch.zeros(size))

    def forward(self, outputs: Tensor, classes: Tensor) -> Tensor:
        """Outputs of the recognition network ``(..., 2 D)`` with m̃ in the place of m; ``classes`` is y ``(..., K)``."""
        mean, raw = outputs.chunk(2, -1)
        apart = mean.unsqueeze(-2) - self.mean().to(mean.dtype)  # (..., K, D)
        white = torch.einsum("...k,kij,...kj->...i", classes, self.matrix().to(mean.dtype), apart)
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
        """√(1 - s̄²) · C_y^(-1/2) of every class, ``(K, D, D)``."""
        values, vectors = torch.linalg.eigh(self.covariance())
        root = vectors * values.clamp_min(_SMALLEST).rsqrt().unsqueeze(-2) @ vectors.mT
        signal = (1 - self.noise / (self.count.sum() + _LEAST)).clamp_min(_SMALLEST_SIGNAL)
        return signal.sqrt().unsqueeze(-1) * root

    @torch.no_grad()
    def renew(self, outputs: Tensor, classes: Tensor) -> None:
        """Take a batch into the moving moments; that of all processes where there are several."""
        outputs = outputs.expand(*classes.shape[:-1], -1).flatten(0, -2).to(self.total.dtype)  # (N, 2 D)
        classes = classes.flatten(0, -2).to(self.total.dtype)  # (N, K)
        mean, scale = location_and_scale(outputs)
        sums = (
            classes.sum(0),
            classes.T @ mean,
            torch.einsum("nk,ni,nj->kij", classes, mean, mean),
            scale.square().sum(0),
        )
        for kept, new in zip((self.count, self.total, self.square, self.noise), sums, strict=True):
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                torch.distributed.all_reduce(new)
            kept.lerp_(new, _RATE)
