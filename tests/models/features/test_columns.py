"""Columns: standardized numbers, one indicator per class, and one of missing cells."""

import torch

from tests.models.features.test_features import items, table
from unknot.models.features.columns import Columns


def test_numbers_categories_and_missing_cells() -> None:
    data = table()
    features = Columns.for_data(data)
    rows = features(items(data))
    assert features.size == 1 + 3 + 2
    assert rows[0, 0] == 0
    assert rows[0, 4] == 1
    assert rows[1, 1:4].tolist() == [0, 0, 0]
    assert rows[1, 5] == 1
    torch.testing.assert_close(rows[1:, 0].mean(), torch.tensor(0.0), atol=1e-5, rtol=0)
    torch.testing.assert_close(rows[1:, 0].std(correction=0), torch.tensor(1.0))
    assert torch.equal(rows[2:, 1:4].argmax(1).float(), items(data)[2:, 1])


def test_far_numbers_are_clipped_and_unknown_classes_have_no_error() -> None:
    features = Columns.for_data(table())
    rows = features(torch.tensor([[1e9, 7.0]]))
    assert rows[0, 0] == 8
    assert rows[0, 1:4].sum() == 1
