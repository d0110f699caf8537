"""Data sets that are computed rather than read: Multi-MNIST from MNIST, and scikit-learn's own digits."""

from __future__ import annotations

from unknot.data.catalogue import Entry
from unknot.data.dataset import Dataset
from unknot.data.digits import load_digits

DIGITS = Entry(
    name="digits",
    title="Digits",
    what="small handwritten digits, part of scikit-learn",
    items="1797",
    shape="1x8x8",
    factors="digit (10)",
    licence="CC BY 4.0 (UCI)",
    made_from="scikit-learn",
)


def build_digits() -> Dataset:
    """Factor `digit`."""
    return load_digits()
