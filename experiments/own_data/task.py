"""Task: labeled, unlabeled and test items of one data set, drawn by a seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.own_data.items import Items, take
from experiments.own_data.read_images import read_images
from experiments.own_data.read_series import read_series
from experiments.own_data.read_tables import read_table
from experiments.own_data.read_texts import read_texts
from experiments.own_data.read_wide import read_wide

MOST_TEST, MOST_UNLABELED = 1500, 1500
TEST_SHARE = 0.4
READERS = {
    "tables": read_table,
    "texts": read_texts,
    "images": read_images,
    "wide": read_wide,
    "series": read_series,
}


@dataclass(frozen=True)
class Task:
    """Labeled items, unlabeled ones that a method may learn from, and test items, whose labels nobody sees.

    Attributes
    ----------
    kind : str
        The kind of data.
    x, more, test : Any
        Labeled, unlabeled and test items, as a user has them.
    y : ndarray
        The labels, class indices or numbers.
    classes : int
        The number of classes; 0 for numbers.
    seed : int
        Seed of the method.
    steps : int, optional
        Training steps of the smoke tier.
    """

    kind: str
    x: Any
    more: Any
    test: Any
    y: np.ndarray
    classes: int
    seed: int
    steps: int | None = None


def draw(
    items: Items, kind: str, labels: int, seed: int, each: int = 0, steps: int | None = None
) -> tuple[Task, np.ndarray]:
    """Return a task and the labels of its test items.

    Labels are of random items; of every class there is one at least, as far as they suffice. With ``each`` there are so
    many labels of every class instead.
    """
    order = np.random.default_rng([seed, labels, each]).permutation(len(items))
    test = order[: min(int(TEST_SHARE * len(order)), MOST_TEST)]
    train = order[len(test) :]
    place = np.arange(len(train))
    if items.classes:
        order_in_class = np.empty(len(train), int)  # the number of earlier items of the class
        for k in range(items.classes):
            mine = items.y[train] == k
            order_in_class[mine] = np.arange(mine.sum())
        if each:
            place = np.flatnonzero(order_in_class < each)
            labels = len(place)
        else:
            place = np.lexsort((place, order_in_class > 0))
    chosen = place[:labels]
    others = np.setdiff1d(np.arange(len(train)), chosen)[:MOST_UNLABELED]
    labeled = train[chosen]
    x, more, asked = (take(items.x, rows) for rows in (labeled, train[others], test))
    return Task(kind, x, more, asked, items.y[labeled], items.classes, seed, steps), items.y[test]


@lru_cache(2)
def read(kind: str, name: str) -> Items:
    """Return the items of a data set; the last two are kept in memory."""
    return READERS[kind](name)
