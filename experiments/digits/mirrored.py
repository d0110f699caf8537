"""Mirrored images: every image again, left and right exchanged, with labels that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.errors import DataError


def mirrored(dataset: Dataset, signs: Mapping[str, Sequence[float]]) -> Dataset:
    """The items and, behind them, their mirror images, which show a label where the item does.

    ``signs`` says which entries of a vector factor turn round in a mirror: ``{"light": (-1, 1, 1)}``.
    """
    if not isinstance(dataset.x, Tensor) or dataset.x.ndim != 4:
        raise DataError(f"{dataset.name}: only images (N, C, H, W) have mirror images.")
    factors = {}
    for name, factor in dataset.factors.items():
        turned: Tensor = factor.values
        if name in signs:
            turned = turned * torch.tensor(signs[name], dtype=turned.dtype, device=turned.device)
        factors[name] = replace(factor, values=torch.cat([factor.values, turned]))
    ids = torch.cat([dataset.ids, dataset.ids + int(dataset.ids.max()) + 1])
    return replace(dataset, x=torch.cat([dataset.x, dataset.x.flip(-1)]), ids=ids, factors=factors, splits={})
