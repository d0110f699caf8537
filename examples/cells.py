"""Single cells: types from 20 labels each, a query with other genes and a new donor, and the genes of two types.

The cells are `cells/kidney_immune.h5ad` in the folder UNKNOT_DATA; without it, synthetic ones.

    UNKNOT_DATA=folder python examples/cells.py [steps]
"""

import os
import sys
from pathlib import Path

import numpy as np

from unknot import StructuredVAE

LABELS = 20


def load():
    """Return kidney cells, or synthetic ones of three types from four donors."""
    import anndata
    import pandas

    path = Path(os.environ.get("UNKNOT_DATA", "")) / "cells" / "kidney_immune.h5ad"
    if path.is_file():
        return anndata.read_h5ad(path)
    draw, kind = np.random.default_rng(0), np.arange(240) % 3
    counts = draw.poisson(np.where(np.arange(60)[None] % 3 == kind[:, None], 3.0, 1.0)).astype(np.float32)
    index = pandas.Index([f"cell {i}" for i in range(240)], dtype=object)
    obs = {"cell_type": [f"type {k}" for k in kind], "donor": [f"donor {i % 4}" for i in range(240)]}
    return anndata.AnnData(counts, pandas.DataFrame(obs, index=index, dtype=object))


def main(steps=None):
    """Fit, predict and compare."""
    cells = load()
    truth = cells.obs["cell_type"].astype(str).to_numpy()
    is_query = (cells.obs["donor"] == cells.obs["donor"].iloc[-1]).to_numpy()  # one donor is not trained on
    draw, known = np.random.default_rng(0), np.zeros(len(truth), dtype=bool)
    for one in np.unique(truth):
        rows = draw.permutation(np.nonzero((truth == one) & ~is_query)[0])
        known[rows[: min(LABELS, len(rows) // 2)]] = True
    cells.obs["label"] = np.where(known, truth, "Unknown").astype(object)

    reference, query = (
        cells[~is_query].copy(),
        cells[is_query][:, ::-2].copy(),
    )  # half of the genes, in another order
    vae = StructuredVAE(steps=steps, verdict=False).fit(reference, label="label")
    hidden = ~known[~is_query]
    right = vae.predict(reference)[hidden] == truth[~is_query][hidden]
    print(f"{hidden.sum()} cells without a label: {100 * right.mean():.0f} % right")

    vae.annotate(query)
    right = query.obs["label_predicted"].astype(str).to_numpy() == truth[is_query]
    print(f"{is_query.sum()} cells of a new donor, with half of the genes: {100 * right.mean():.0f} % right")
    print(query.obs[["label_predicted", "label_probability", "label_set", "novelty"]].head())

    first, second = vae.classes_["label"][:2]
    print(f"{first} over {second}:")
    print(vae.differences(reference, first, second).to_frame().head().round(2))
    return float(right.mean())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
