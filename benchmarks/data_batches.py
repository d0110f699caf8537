"""How fast batches come: beside plain indexing, from packed bits, and how long Multi-MNIST takes to make."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import islice
from statistics import median
from typing import Any

import torch

from benchmarks.row import row
from unknot.data import Dataset, Factor, PackedBits
from unknot.data.sets.multi_mnist import make_multi_mnist

ROUNDS = 9


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def exhaust(batches: Iterable[object]) -> None:
    for _ in batches:
        pass


def mnist_size() -> Dataset:
    """Random bytes of MNIST's size with MNIST's one factor; speed does not depend on the pixels."""
    x = torch.randint(0, 256, (60000, 1, 28, 28), dtype=torch.uint8)
    digit = Factor("digit", "categorical", torch.randint(0, 10, (60000,)), tuple("0123456789"))
    return Dataset("mnist-size", x, torch.arange(60000), {"digit": digit})


def beside_indexing(batch_size: int = 128) -> dict[str, Any]:
    """One shuffled epoch of whole batches (float32 images, ids, labels, known-masks) against `x[idx]`.

    `x[idx]` is torch's indexing of the uint8 images alone with the same kind of index: it converts nothing
    and fetches no labels. Both include the making of the permutation. Taken in turns, median of the ratios.
    """
    data = mnist_size()
    x = data.x

    def plain() -> None:
        for idx in torch.randperm(len(x)).split(batch_size):
            x[idx]

    ratios = []
    for _ in range(ROUNDS):
        theirs = seconds(plain)
        ratios.append(theirs / seconds(lambda: exhaust(data.batches(batch_size))))
    return row("MNIST-size batches of 128: speed against x[idx]", median(ratios), "x", 0.8, at_most=False)


def packed_images(batch_size: int = 512) -> dict[str, Any]:
    """The first 200 batches of 512 of a shuffled epoch over 737280 packed 64x64 images with dSprites' five
    factors, with what it takes to begin the epoch. Median of the rounds."""
    n = 737280
    bits = torch.randint(0, 256, (n, 512), dtype=torch.uint8)
    factors = {
        name: Factor(name, "categorical", torch.randint(0, size, (n,)), tuple(map(str, range(size))))
        for name, size in (("shape", 3), ("scale", 6), ("orientation", 40), ("x", 32), ("y", 32))
    }
    data = Dataset("dsprites-size", PackedBits(bits, (1, 64, 64)), torch.arange(n), factors)
    rates = [
        200 * batch_size / seconds(lambda: exhaust(islice(data.batches(batch_size), 200)))
        for _ in range(ROUNDS)
    ]
    return row("dSprites-size packed batches of 512", median(rates), "images/s", 20000, at_most=False)


def multi_mnist() -> dict[str, Any]:
    """All 82000 canvases of Multi-MNIST from random images of MNIST's size."""
    data = mnist_size()
    took = seconds(lambda: make_multi_mnist(data.x, data.factors["digit"].values))
    return row("Multi-MNIST, 82000 canvases", took, "s", 60)


def run() -> list[dict[str, Any]]:
    torch.manual_seed(0)
    return [beside_indexing(), packed_images(), multi_mnist()]
