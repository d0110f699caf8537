"""Outlines: what a data set is, without its items."""

import json

import numpy as np

from unknot.data import from_arrays
from unknot.data.description import dataset_without_items, describe_dataset


def test_an_outline_keeps_everything_but_the_items() -> None:
    data = from_arrays(
        np.zeros((4, 8, 8), np.uint8),
        {"word": ["a", "b", None, "a"], "light": np.zeros((4, 3)), "on": [True, False, True, True]},
    )
    blank = dataset_without_items(json.loads(json.dumps(describe_dataset(data))))
    assert len(blank) == 0
    assert blank.item_shape == data.item_shape
    for name, factor in data.factors.items():
        assert blank.factors[name].kind == factor.kind
        assert blank.factors[name].classes == factor.classes
        assert blank.factors[name].values.shape[1:] == factor.values.shape[1:]
