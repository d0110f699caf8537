"""The sections about cells: a map, and the genes of the style."""

from __future__ import annotations

from tests.cells import small_cells
from unknot import StructuredVAE
from unknot.data.from_arrays import from_arrays
from unknot.report.cells import cell_sections


def test_cells_have_a_map_and_the_genes_of_the_style() -> None:
    model = {"kind": "class_style", "style": 2, "width": 16}
    vae = StructuredVAE(model=model, steps=5, cross_fit=0, verbose=False, verdict=False)
    cells = vae.fit(small_cells(), label="kind", given="donor")._cells(small_cells())
    sections = cell_sections(vae.trained_, cells)
    assert [one.title for one in sections] == [
        "Map of the cells",
        "Genes by style dimension",
        "Genes of the style",
    ]
    assert sections[2].table is not None
    assert [row[0] for row in sections[2].table.rows] == ["style[0]", "style[1]"]
    assert cell_sections(vae.trained_, from_arrays([[0.5], [1.5]])) == []
