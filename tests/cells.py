"""Small sets of cells for tests: types that express genes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np


def small_cells(cells: int = 60, genes: int = 24, types: int = 3, seed: int = 0, layer: str = "") -> Any:
    """AnnData of Poisson counts; each type expresses its share of the genes four times as much."""
    import anndata
    import pandas
    from scipy import sparse

    def words(names: list[str]) -> Any:
        return pandas.Index(names, dtype=object)  # which anndata can write

    draw = np.random.default_rng(seed)
    kind = np.arange(cells) % types
    rates = np.where(np.arange(genes)[None] % types == kind[:, None], 4.0, 1.0)
    counts = sparse.csr_matrix(draw.poisson(rates).astype(np.float32))
    obs = pandas.DataFrame(
        {
            "kind": words([f"type {k}" for k in kind]),
            "donor": words([f"d{i % 4}" for i in range(cells)]),
            "age": draw.normal(50, 10, cells),
        },
        index=words([f"cell {i}" for i in range(cells)]),
    )
    var = pandas.DataFrame(index=words([f"gene {i}" for i in range(genes)]))
    made = anndata.AnnData(counts, obs=obs, var=var)
    if layer:
        made.layers[layer] = counts.copy()
        made.X = sparse.csr_matrix(np.log1p(counts.toarray()))
    return made
