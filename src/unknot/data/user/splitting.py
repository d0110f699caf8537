"""A share of the items for testing, drawn before anybody looks at an item."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from unknot.errors import DataError

Splits = Callable[[int], Mapping[str, Tensor]]  # from the number of items to rows by the name of a split


def no_splits(size: int) -> Mapping[str, Tensor]:
    """All items together."""
    return {}


def share_for_testing(share: float, seed: int) -> Splits:
    """The rows "train" and "test" of so many items; no splits where the share is nothing."""

    def split(size: int) -> Mapping[str, Tensor]:
        if share == 0.0:
            return {}
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
            raise DataError(f"test_share is a fraction between 0 and 1, but got {share}.")
        order = torch.randperm(size, generator=torch.Generator().manual_seed(seed))
        tested = max(1, round(share * size))
        if tested >= size:
            raise DataError(f"test_share {share:g} of {size} items leaves none to train on.")
        return {"train": order[tested:].sort().values, "test": order[:tested].sort().values}

    return split
