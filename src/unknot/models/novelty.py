"""Novelty: how unlike the training items an item is, as a p-value."""

from __future__ import annotations

import torch
from torch import Tensor, nn

MOST_ITEMS = 1000  # reference items that are kept
MOST_LEARNED = 4000  # items that the principal components are learned from
MOST_COMPONENTS = 50
NEIGHBORS = 10
_AT_ONCE = 1 << 22  # distances that are computed at once
_SMALL = 1e-3  # of the median radius: distances below it are rounding errors


class Novelty(nn.Module):
    """Local outlier factor among M reference items, calibrated by leaving out each of them (Breunig et al. 2000).

    The features are projected on K principal components. The radius r_j of a reference item is its mean distance to
    its k nearest neighbors. An item that is added to the reference items has the score and the p-value

        s(x) = sum_{j in N(x)} |x - x_j| / sum_{j in N(x)} r_j,      p(x) = (1 + #{i : s_i >= s(x)}) / (M + 1),

    where N(x) are its k nearest reference items, with x among the candidates for their neighbors, and s_i is the score
    of reference item i among the others. If x is exchangeable with the reference items, p(x) is uniform up to the
    change from M to M + 1 items, and P(p(x) <= a) is at most a if scores have ties.

    Parameters
    ----------
    features : int
        The number of features of an item, F.
    components : int
        K.
    items : int
        M.
    """

    def __init__(self, features: int, components: int, items: int) -> None:
        super().__init__()
        self.register_buffer("center", torch.zeros(features))
        self.register_buffer("projection", torch.zeros(features, components))
        self.register_buffer("items", torch.zeros(items, components))
        self.register_buffer("near", torch.zeros(items, min(NEIGHBORS, items - 1)))
        self.register_buffer("scores", torch.zeros(items))
        self.center: Tensor
        self.projection: Tensor
        self.items: Tensor
        self.near: Tensor  # distances to the nearest neighbors, in increasing order, (M, k)
        self.scores: Tensor  # in increasing order, (M,)

    @classmethod
    @torch.no_grad()
    def of_items(cls, features: Tensor, standardize: bool, seed: int = 0) -> Novelty:
        """Learn from the features ``(N, F)`` of training items, labeled or not.

        Parameters
        ----------
        features : Tensor
            At least three items. Components are learned from at most 4,000 items and 1,000 of these are kept.
        standardize : bool
            Whether every feature is divided by its standard deviation first.
        seed : int, default=0
            Seed of the choice of items.
        """
        order = torch.randperm(len(features), generator=torch.Generator().manual_seed(seed))
        known = features[order[:MOST_LEARNED]].double()
        center = known.mean(0)
        spread = (known - center).square().mean(0).sqrt()
        scale = torch.where(spread > 1e-9, 1 / spread, 0.0) if standardize else torch.ones_like(spread)
        standard = (known - center) * scale
        components = min(MOST_COMPONENTS, *standard.shape)
        if components == standard.shape[1]:
            directions = torch.eye(components, dtype=torch.float64)
        else:
            directions = torch.linalg.svd(standard, full_matrices=False).Vh[:components].T
        novelty = cls(features.shape[1], components, min(MOST_ITEMS, len(known)))
        novelty.center.copy_(center)
        novelty.projection.copy_(scale[:, None] * directions)
        novelty.items.copy_(novelty._project(features[order[: len(novelty.items)]]))
        novelty._calibrate()
        return novelty

    def forward(self, features: Tensor) -> Tensor:
        """Return the p-values of items with features ``(B, F)``, float64 ``(B,)``."""
        scores = self.score(features)
        below = torch.searchsorted(self.scores, scores)  # the number of reference items with a lower score
        return (1 + len(self.scores) - below).double() / (len(self.scores) + 1)

    @torch.no_grad()
    def score(self, features: Tensor) -> Tensor:
        """Return the local outlier factor of items with features ``(B, F)``, ``(B,)``; above 1 for outliers."""
        rows = self._project(features)
        parts = []
        for part in rows.split(max(1, _AT_ONCE // len(self.items))):
            distances, neighbors = _distances(part, self.items).topk(self.near.shape[1], largest=False)
            near = self.near[neighbors]  # (B, k, k)
            last = torch.minimum(
                near[..., -1], distances
            )  # the item itself may be nearer than the k-th neighbor
            radii = (near[..., :-1].sum(-1) + last) / near.shape[-1]
            parts.append(self._ratio(distances, radii))
        return torch.cat(parts) if parts else rows.new_zeros(0)

    def _project(self, features: Tensor) -> Tensor:
        return (features - self.center) @ self.projection  # (B, K)

    def _calibrate(self) -> None:
        distances = _distances(self.items, self.items).fill_diagonal_(torch.inf)
        near, neighbors = distances.topk(self.near.shape[1], largest=False)  # (M, k)
        self.near.copy_(near)
        self.scores.copy_(self._ratio(near, near.mean(1)[neighbors]).sort().values)

    def _ratio(self, distances: Tensor, radii: Tensor) -> Tensor:
        """Return the score of items from the distances to their neighbors and these neighbors' radii, ``(B, k)``."""
        small = _SMALL * self.near.mean(1).median() + torch.finfo(torch.float32).tiny
        return (distances.mean(1) + small) / (radii.mean(1) + small)


def _distances(rows: Tensor, others: Tensor) -> Tensor:
    """Return distances ``(B, M)``, exact to the last bits for near duplicates."""
    return torch.cdist(rows, others, compute_mode="donot_use_mm_for_euclid_dist")
