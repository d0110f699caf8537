"""What a table's holes would hold, by a linear-Gaussian model of its columns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_SWEEPS = 30


class TableFill(nn.Module):
    """E[missing entries | entries seen] in x = W z + noise, a noise per column (probabilistic PCA with holes).

    ``learn`` fits W and the noise by EM on all rows; a row needs no label for it.
    """

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.size = min(max(columns // 2, 1), 20)
        self.register_buffer("loadings", torch.zeros(columns, self.size))
        self.register_buffer("noise", torch.ones(columns))
        self.loadings: Tensor  # W, (D, K)
        self.noise: Tensor  # variances, (D,)

    def forward(self, x: Tensor) -> Tensor:
        """Rows ``(B, D)`` with NaN for holes, the holes filled."""
        seen = ~x.isnan()
        mean, _ = _posterior(x.nan_to_num(), seen, self.loadings, self.noise)
        return torch.where(seen, x.nan_to_num(), mean @ self.loadings.T)

    @torch.no_grad()
    def learn(self, x: Tensor) -> None:
        """EM on rows ``(N, D)`` of standardized columns."""
        x = x.double()
        seen, filled = ~x.isnan(), x.nan_to_num()
        start = torch.linalg.svd(filled, full_matrices=False)[2][: self.size].T * 0.5
        loadings = torch.zeros(x.shape[1], self.size, dtype=x.dtype, device=x.device)
        loadings[:, : start.shape[1]] = start
        noise = torch.full_like(filled[0], 0.5)
        weight = seen.to(x.dtype)
        small = 0.1 * torch.eye(self.size, dtype=x.dtype, device=x.device)
        for _ in range(_SWEEPS):
            mean, covariance = _posterior(filled, seen, loadings, noise)
            second = covariance + mean[:, :, None] * mean[:, None, :]  # (N, K, K)
            gram = (weight.T @ second.flatten(1)).unflatten(1, (self.size, self.size)) + small
            cross = filled.T @ mean  # (D, K); holes are zero
            loadings = torch.linalg.solve(gram, cross[:, :, None])[:, :, 0]
            error = filled.square().sum(0) - (loadings * cross).sum(1)
            noise = (error / weight.sum(0).clamp_min(1)).clamp_min(0.02)
        self.loadings.copy_(loadings)
        self.noise.copy_(noise)


def _posterior(x: Tensor, seen: Tensor, loadings: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Mean ``(N, K)`` and covariance ``(N, K, K)`` of z given the entries seen."""
    size = loadings.shape[1]
    precision = seen / noise  # (N, D)
    outer = (loadings[:, :, None] * loadings[:, None, :]).flatten(1)  # (D, K K)
    eye = torch.eye(size, dtype=x.dtype, device=x.device)
    covariance = torch.linalg.inv(eye + (precision @ outer).unflatten(1, (size, size)))
    return (covariance @ ((precision * x) @ loadings)[:, :, None])[:, :, 0], covariance
