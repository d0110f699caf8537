"""dSprites for a CPU: a random part of the images, averaged over blocks of pixels."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from unknot.data import load
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor

_CHUNK = 4096


def small_sprites(items: int, block: int, seed: int = 0) -> Dataset:
    """Return ``items`` random images of dSprites, averaged over ``block`` x ``block`` pixels, uint8, with all factors.

    The last tenth is the split ``test``. The seed chooses the images.
    """
    whole = load("dsprites")
    rows = torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed))[:items]
    pieces = [averaged(whole.batch(part).x, block) for part in rows.split(_CHUNK)]
    factors = {name: factor.select(rows) for name, factor in whole.factors.items()}
    return _split(Dataset("dsprites-small", torch.cat(pieces), whole.ids[rows], factors))


def averaged(images: Tensor, block: int) -> Tensor:
    """Return means of blocks of images (N, 1, H, W) from 0 to 1, as uint8."""
    return (255 * avg_pool2d(images, block)).round().byte()


def toy_sprites(items: int, seed: int = 0) -> Dataset:
    """Return squares and discs of two sizes, for the smoke tier."""
    generator = torch.Generator().manual_seed(seed)
    sizes = {"shape": 2, "scale": 2, "posX": 6, "posY": 6}
    values = {name: torch.randint(size, (items,), generator=generator) for name, size in sizes.items()}
    place = torch.arange(16.0)
    right = (place - 5 - values["posX"][:, None]).abs()[:, None, :]  # (N, 1, W)
    down = (place - 5 - values["posY"][:, None]).abs()[:, :, None]
    reach = 1.5 + values["scale"][:, None, None]
    square = torch.maximum(right, down) <= reach
    disc = right.square() + down.square() <= reach.square()
    x = torch.where((values["shape"] == 0)[:, None, None], square, disc)
    factors = {
        name: Factor(name, "categorical", values[name], tuple(str(k) for k in range(size)))
        for name, size in sizes.items()
    }
    return _split(Dataset("toy-sprites", 255 * x[:, None].byte(), torch.arange(items), factors))


def _split(data: Dataset) -> Dataset:
    count = len(data) - len(data) // 10
    splits = {"train": torch.arange(count), "test": torch.arange(count, len(data))}
    return Dataset(data.name, data.x, data.ids, data.factors, splits)
