"""Rows kept for the test decide nothing."""

from __future__ import annotations

import torch

from unknot.data.deciding_rows import deciding_rows


def test_all_but_those_of_the_test() -> None:
    assert deciding_rows({"train": [0], "test": torch.tensor([1, 3])}, 4).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert deciding_rows({"train": [0, 1]}, 2).all()
    assert deciding_rows({"test": [0, 1]}, 2).all()  # there are no others
