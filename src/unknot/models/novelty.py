"""Novelty: how unlike the training items an item is, as a p-value; and the reference items that it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models.features.features import FEATURES, Features, make_features

MOST_ITEMS = 1000  # reference items that are kept
MOST_LEARNED = 5000  # items that the features are learned from
MOST_COMPONENTS = 50
MOST_ROWS, MOST_COLUMNS = 300, 500  # of the reference items that are kept as they are
NEIGHBORS = 10
_FEWEST = 20  # items of which a novelty can be learned
_AT_ONCE = 1 << 22  # numbers that are in memory at once
_SMALL = 1e-3  # of the median radius: distances below it are rounding errors


class Novelty(nn.Module):
    """Local outlier factor among M reference items, calibrated by leaving out each of them (Breunig et al. 2000).

    Items have features, which are projected on K principal components. The radius r_j of a reference item is its mean
    distance to its k nearest neighbors. An item that is added to the reference items has the score and the p-value

        s(x) = sum_{j in N(x)} |x - x_j| / sum_{j in N(x)} r_j,      p(x) = (1 + #{i : s_i >= s(x)}) / (M + 1),

    where N(x) are its k nearest reference items, with x among the candidates for their neighbors, and s_i is the score
    of reference item i among the others. Features and components are learned from other training items than the
    reference items, so that reference items are exchangeable with new items of the same distribution. For these p(x)
    is uniform, up to the change from M to M + 1 items; if scores have ties, P(p(x) <= a) is at most a.

    Parameters
    ----------
    features : Features
        The features of an item.
    components : int
        K.
    items : int
        M.
    rows : sequence of int, default=(0, 0)
        The shape of the reference items that are also kept as they are, for explanations.
    """

    def __init__(self, features: Features, components: int, items: int, rows: Sequence[int] = (0, 0)) -> None:
        super().__init__()
        self.features = features
        self.register_buffer("rows", torch.zeros(*rows))
        self.register_buffer("center", torch.zeros(features.size))
        self.register_buffer("projection", torch.zeros(features.size, components))
        self.register_buffer("items", torch.zeros(items, components))
        self.register_buffer("near", torch.zeros(items, min(NEIGHBORS, items - 1)))
        self.register_buffer("scores", torch.zeros(items))
        self.rows: Tensor
        self.center: Tensor
        self.projection: Tensor
        self.items: Tensor
        self.near: Tensor  # distances to the nearest neighbors, in increasing order, (M, k)
        self.scores: Tensor  # in increasing order, (M,)

    @classmethod
    @torch.no_grad()
    def for_data(cls, data: Dataset, seed: int = 0) -> Novelty | None:
        """Learn from the items of a data set; labels are not looked at.

        Features and components are learned from a third of the items, at most 5,000, and at most 1,000 of the others
        are kept as reference items. Of rows with at most 500 numbers 300 are also kept as they are.

        Parameters
        ----------
        data : Dataset
            The training data.
        seed : int, default=0
            Seed of the choice of items.

        Returns
        -------
        Novelty or None
            None if there are fewer than 20 items or no features suit the data.
        """
        kind = next((one for one in FEATURES.values() if one.suits(data)), None)
        if kind is None or len(data) < _FEWEST:
            return None
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
        count = min(len(data) // 3, MOST_LEARNED)
        learned, kept = data.subset(order[:count]), data.subset(order[count : count + MOST_ITEMS])
        features = kind.for_data(learned)
        center, directions = _principal_components(_features_of(features, learned))
        rows = kept.batch(range(min(len(kept), MOST_ROWS))).x.cpu() if _are_short(kept) else torch.zeros(0, 0)
        novelty = cls(features, directions.shape[1], len(kept), rows.shape)
        novelty.rows.copy_(rows)
        novelty.center.copy_(center)
        novelty.projection.copy_(directions)
        novelty.items.copy_(novelty._project(_features_of(features, kept)))
        novelty._calibrate()
        return novelty.eval()

    def to_dict(self) -> dict[str, Any]:
        """Return what :func:`make_novelty` needs, as plain data."""
        items, components = self.items.shape
        features = [self.features.name, dict(self.features.settings)]
        return {
            "features": features,
            "components": components,
            "items": items,
            "rows": list(self.rows.shape),
        }

    def forward(self, x: Tensor) -> Tensor:
        """Return the p-values of items ``(B, ...)``, float64 ``(B,)``."""
        below = torch.searchsorted(
            self.scores, self.score(x)
        )  # the number of reference items with a lower score
        return (1 + len(self.scores) - below).double() / (len(self.scores) + 1)

    @torch.no_grad()
    def score(self, x: Tensor) -> Tensor:
        """Return the local outlier factor of items ``(B, ...)``, ``(B,)``; it is well above 1 for outliers."""
        rows = self._project(self.features(x))
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


def make_novelty(described: Mapping[str, Any]) -> Novelty:
    """Make a novelty from what :meth:`Novelty.to_dict` wrote; its buffers are loaded afterwards."""
    return Novelty(
        make_features(*described["features"]), described["components"], described["items"], described["rows"]
    )


def _are_short(data: Dataset) -> bool:
    """Whether items are dense rows of few numbers."""
    few = len(data.item_shape) == 1 and data.item_shape[0] <= MOST_COLUMNS
    return few and not isinstance(data.x, SparseCounts)


def _features_of(features: Features, data: Dataset) -> Tensor:
    step = max(1, min(1000, _AT_ONCE // max(data.item_shape.numel(), features.size)))
    rows = torch.arange(len(data)).split(step)
    return torch.cat([features(data.batch(some.to(data.device)).x.cpu()) for some in rows])


def _principal_components(features: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean ``(F,)`` and principal directions ``(F, K)`` of ``(N, F)``; the axes if F is at most 50."""
    center = features.mean(0)
    if features.shape[1] <= MOST_COMPONENTS:
        return center, torch.eye(features.shape[1])
    directions = torch.linalg.svd((features - center).double(), full_matrices=False).Vh[:MOST_COMPONENTS]
    return center, directions.T.float()


def _distances(rows: Tensor, others: Tensor) -> Tensor:
    """Return distances ``(B, M)``, exact to the last bits for near duplicates."""
    return torch.cdist(rows, others, compute_mode="donot_use_mm_for_euclid_dist")
