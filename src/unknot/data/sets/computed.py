"""Data sets that are computed rather than read: Multi-MNIST from MNIST, and scikit-learn's own digits."""

from __future__ import annotations

from collections.abc import Sequence

from unknot.data.dataset import Dataset
from unknot.data.files.catalogue import Entry, Files
from unknot.data.files.directories import advising_cache, cache_directory
from unknot.data.sets import mnist
from unknot.data.sets.digits import load_digits
from unknot.data.sets.multi_mnist import make_multi_mnist
from unknot.data.sets.npz_dataset import read_npz_dataset, write_npz
from unknot.errors import DataError
from unknot.files import lock

RECIPE = 1  # raise it when make_multi_mnist draws other canvases from the same arguments

MULTI_MNIST = Entry(
    name="multi-mnist",
    title="Multi-MNIST",
    what="1 to 3 MNIST digits on one canvas",
    items="82000 (n=82000)",
    shape="1x50x50 (canvas=50)",
    factors="count, digit_1..3 (10), place_1..3 (x, y, scale)",
    licence="as MNIST",
    folder=mnist.ENTRY.folder,
    forms=mnist.ENTRY.forms,
    made_from="mnist",
)

DIGITS = Entry(
    name="digits",
    title="Digits",
    what="small handwritten digits",
    items="1437 + 360",
    shape="1x8x8",
    factors="digit (10)",
    licence="CC BY 4.0",
    made_from="scikit-learn",
)


def build_multi_mnist(
    files: Files,
    n: int = 82000,
    seed: int = 0,
    canvas: int = 50,
    counts: Sequence[int] = (1, 2, 3),
    apart: bool = True,
    with_sources: bool = False,
) -> Dataset:
    """Factors ``count``, ``digit_1``..., ``place_1``...; splits ``train`` and ``test``, made from MNIST's own.

    ``apart=False`` lets digits overlap; ``with_sources`` adds ``source_1``..., rows of MNIST.

    The canvases are drawn once for each choice of options and then kept in the cache.
    """
    kind = "-".join(str(count) for count in counts)
    folder = cache_directory() / "multi-mnist"
    options = ("" if apart else "_overlapping") + ("_sources" if with_sources else "")
    path = folder / f"recipe{RECIPE}_n{n}_seed{seed}_canvas{canvas}_counts{kind}{options}.npz"
    with advising_cache(), lock(folder / f".{path.name}.lock"):
        try:
            return read_npz_dataset(path)
        except DataError:  # not made yet, or damaged: make it
            source = mnist.build(files)
            splits = dict(source.splits)
            digits = source.factor("digit").values
            made = make_multi_mnist(
                source.x, digits, n, seed, canvas, counts, splits, apart=apart, with_sources=with_sources
            )
            write_npz(path, made)
            return made


def build_digits() -> Dataset:
    """Factor ``digit``; a fixed split into ``train`` (1437) and ``test`` (360)."""
    return load_digits()
