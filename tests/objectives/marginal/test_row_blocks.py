"""Blocks of rows: every row once, with rows of one table together, and none larger than a block may be."""

import pytest
import torch

from unknot.errors import SpecError
from unknot.objectives.marginal import normal_pairs as blocks
from unknot.objectives.marginal.normal_pairs import row_blocks, rows_per_block, work_tensors


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "CPU_BLOCK", 20)


@pytest.mark.parametrize(("rows", "width", "size"), [(10, 5, 4), (3, 5, 3), (10, 100, 1)])
def test_a_block_has_at_least_one_row_and_at_most_all(rows, width, size):
    assert rows_per_block(torch.zeros(rows, 2), width) == size


def test_slices_cover_every_row_once():
    index = torch.arange(10)
    found = [index[rows] for table, rows in row_blocks(torch.zeros(10, 2), 5, None) if table == 0]
    assert [len(one) for one in found] == [4, 4, 2]
    assert torch.cat(found).tolist() == list(range(10))


def test_with_parents_a_block_holds_rows_of_one_table():
    parent = torch.tensor([2, 0, 2, 2, 0, 2, 2, 2])
    found = [(table, rows.tolist()) for table, rows in row_blocks(torch.zeros(8, 2), 5, parent)]
    assert found == [(0, [1, 4]), (2, [0, 2, 3, 5]), (2, [6, 7])]


def test_a_parent_below_zero_is_refused():
    with pytest.raises(SpecError, match="class index from 0"):
        list(row_blocks(torch.zeros(2, 2), 5, torch.tensor([0, -1])))


def test_work_tensors_hold_a_block():
    one, other = work_tensors(2, torch.zeros(10, 2, dtype=torch.float64), torch.Size((5, 1)))
    assert one.shape == other.shape == (4, 5, 1)
    assert one.dtype == torch.float64
    assert one.data_ptr() != other.data_ptr()
