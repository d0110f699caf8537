"""Genes that change with a type or along a style: those that were made to."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cells import small_cells
from unknot import StructuredVAE
from unknot.errors import SpecError
from unknot.workflow.cell_genes import differences


@pytest.fixture(scope="module")
def fitted() -> StructuredVAE:
    model = {"kind": "class_style", "style": 2, "width": 32}
    vae = StructuredVAE(model=model, steps=250, cross_fit=0, learning_rate=1e-2, verbose=False, verdict=False)
    return vae.fit(small_cells(90), label="kind", given="donor")


def test_genes_of_a_type_are_found(fitted: StructuredVAE) -> None:
    adata = small_cells(90)
    assert fitted.trained_.nodes[-1].family.name == "negative_binomial"
    made = fitted.differences(adata, "type 0", "type 1")
    place = np.arange(24) % 3  # type k expresses the genes k, k + 3, ... four times as much: log2 is 2
    assert made.mean[place == 0].mean() > 1
    assert made.mean[place == 1].mean() < -1
    assert abs(made.mean[place == 2].mean()) < 0.7
    assert bool(((made.low <= made.mean) & (made.mean <= made.high)).all())
    frame = made.to_frame()
    assert list(frame.columns) == ["log2_fold_change", "low", "high", "probability"]
    assert int(frame.index[0].split()[1]) % 3 in (0, 1)
    assert frame["probability"].iloc[0] > 0.9
    again = fitted.differences(adata, "type 1", "type 0")
    assert np.corrcoef(again.mean, -made.mean)[0, 1] > 0.95


def test_genes_along_the_style_have_a_number_for_each_gene(fitted: StructuredVAE) -> None:
    made = fitted.style_genes(small_cells(90))
    assert made.names == ("style[0]", "style[1]")
    assert made.log2_fold_change.shape == (2, 24)
    top = made.top(3)["style[0]"]
    assert abs(top[0][1]) == pytest.approx(np.abs(made.log2_fold_change[0]).max())


def test_classes_must_be_there(fitted: StructuredVAE) -> None:
    adata = small_cells(90)
    cells = fitted._cells(adata)
    with pytest.raises(SpecError, match="'style' has none"):
        differences(fitted.trained_, cells, "style", 0, 1)
