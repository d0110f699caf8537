"""Features of cells: components, kept by their settings and buffers."""

from __future__ import annotations

import torch

from tests.cells import small_cells
from unknot.data.readers.cells import read_cells
from unknot.data.readers.read_options import ReadOptions
from unknot.models.features.features import make_features
from unknot.models.features.genes import Genes


def test_features_of_cells_are_components() -> None:
    data = read_cells(small_cells(), (), ReadOptions())
    assert Genes.suits(data)
    made = Genes.for_data(data)
    rows = made(data.batch(range(60)).x)
    assert rows.shape == (60, made.size)
    again = make_features("genes", made.settings)
    again.load_state_dict(made.state_dict())
    assert torch.equal(again(data.batch([3, 4]).x), made(data.batch([3, 4]).x))
