"""own-data-more: labels of two factors lie apart, and test items are unseen."""

from __future__ import annotations

import numpy as np

from experiments.tables.own_data_items import Items
from experiments.tables.own_data_more import draw_labels


def test_no_item_has_two_labels_and_none_is_tested() -> None:
    x = np.zeros((500, 2))
    items = Items(x, x, {"a": np.arange(500) % 3, "b": np.arange(500) % 2})
    known, train, test = draw_labels(items, 50, seed=0)
    assert {name: len(rows) for name, rows in known.items()} == {"a": 50, "b": 50}
    assert not set(known["a"]) & set(known["b"])
    assert not set(train) & set(test)
    assert set(known["a"]) | set(known["b"]) <= set(train)
    assert len(train) + len(test) == 500


def test_each_of_many_classes_has_a_label() -> None:
    x = np.zeros((600, 2))
    items = Items(x, x, {"who": np.arange(600) % 40})
    known, _, _ = draw_labels(items, 80, seed=1)
    assert np.bincount(items.labels["who"][known["who"]], minlength=40).min() == 2
