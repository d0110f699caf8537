"""A stretch of items, dense or sparse."""

import torch

from unknot.workflow.item_rows import item_rows, items_at_once


def test_sparse_rows_are_the_dense_ones() -> None:
    x = torch.arange(12.0).reshape(4, 3) * torch.tensor([1.0, 0.0, 1.0])
    for start, stop in ((0, 2), (1, 3), (2, 9)):
        torch.testing.assert_close(item_rows(x.to_sparse(), start, stop).to_dense(), x[start:stop])
        torch.testing.assert_close(item_rows(x, start, stop), x[start:stop])
        assert item_rows(x.to_sparse(), start, stop).is_coalesced()


def test_large_items_go_through_in_smaller_numbers() -> None:
    assert items_at_once(torch.Size([1, 28, 28])) == 1000
    assert items_at_once(torch.Size([3, 256, 256])) == 85
    assert items_at_once(torch.Size([10**9])) == 1
