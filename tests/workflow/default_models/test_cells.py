"""Which data the default of cells is for, and its ensemble."""

from __future__ import annotations

from dataclasses import replace

from tests.cells import small_cells
from unknot.data.from_arrays import from_arrays
from unknot.data.readers.cells import read_cells
from unknot.data.readers.read_options import ReadOptions
from unknot.workflow.default_models import choose
from unknot.workflow.default_models.cells import Cells


def test_cells_with_labels_have_a_default_of_their_own() -> None:
    data = read_cells(small_cells(), ("kind",), ReadOptions())
    assert choose(data) is Cells
    assert Cells.unsuitable(from_arrays([[0.5], [1.5]], {"kind": ["a", "b"]})) == "is for cells of AnnData"
    assert Cells.unsuitable(replace(data, factors={})) == "needs labels"
    given = read_cells(small_cells(), ("kind", "donor"), ReadOptions())
    beside = replace(data, given={"donor": given.factors["donor"]})
    assert Cells.unsuitable(beside) == "takes nothing that is given"
    assert choose(beside).name == "class_style"


def test_the_ensemble_is_of_components_of_variable_genes() -> None:
    data = read_cells(small_cells(), ("kind",), ReadOptions())
    spec = Cells(components=7, genes=10).spec(data)
    assert len(spec.columns) == 7
    assert spec.components == {"columns": 24, "counts": True, "variable": 10}
