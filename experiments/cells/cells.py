"""cells: cell types from 5, 20 or 100 labels per type, beside scANVI and classifiers on components.

All cells are trained on, without the labels of most; the errors are of the cells whose label was not trained on. The
recipe was chosen on worm neurons (docs/defaults.md); kidney and osmFISH were scored once, after that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.cells.methods import METHODS, UNKNOWN
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from unknot.data.files.directories import data_directory
from unknot.errors import SpecError

SETS = {"worm neurons": "worm_neurons", "kidney": "kidney_immune", "osmFISH": "osmfish_cortex"}
LABELS = (5, 20, 100)
BINS = 10  # of the calibration error
ROWS: dict[str, dict[str, Any]] = {
    "Unknot": {"method": "unknot"},
    "scANVI 1.4.2, 100 + 20 epochs": {"method": "scanvi"},
    "logistic regression on 50 components": {"method": "logistic regression"},
    "5 neighbors on 50 components": {"method": "neighbors"},
    "forest on 2,000 variable genes": {"method": "forest"},
}


def cases(tier: Tier) -> list[Case]:
    """Every method on every set and number of labels; smoke takes synthetic cells, and no scANVI."""
    if tier == "smoke":
        return [
            {"row": row, "column": "synthetic", **settings, "data": "", "labels": 5}
            for row, settings in ROWS.items()
            if settings["method"] != "scanvi"
        ]
    return [
        {
            "row": row,
            "column": f"{name}, {labels} labels per type",
            **settings,
            "data": file,
            "labels": labels,
        }
        for name, file in SETS.items()
        for labels in LABELS
        for row, settings in ROWS.items()
    ]


def cells(name: str) -> Any:
    """Return a set as AnnData with counts in X and types in ``obs["cell_type"]``."""
    import anndata

    if not name:
        return synthetic()
    folder = data_directory()
    path = (Path() if folder is None else folder) / "cells" / f"{name}.h5ad"
    if not path.exists():
        raise SpecError(f"cells: expected {path.name} in the folder 'cells' of the data (UNKNOT_DATA).")
    return anndata.read_h5ad(path)


def synthetic(count: int = 120, genes: int = 60) -> Any:
    """Return Poisson counts of three types, each with genes of its own."""
    import anndata
    import pandas
    from scipy import sparse

    draw = np.random.default_rng(0)
    kind = np.arange(count) % 3
    rates = np.where(np.arange(genes)[None] % 3 == kind[:, None], 3.0, 1.0)
    types = pandas.Series([f"type {k}" for k in kind], index=[str(i) for i in range(count)])
    return anndata.AnnData(
        sparse.csr_matrix(draw.poisson(rates).astype(np.float32)), pandas.DataFrame({"cell_type": types})
    )


def with_labels(adata: Any, labels: int, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the cells with ``obs["label"]``, all types, and which cells are tested.

    A type has ``labels`` labels, but at most those of half of its cells.
    """
    draw, truth = np.random.default_rng(seed), adata.obs["cell_type"].astype(str).to_numpy()
    known = np.zeros(len(truth), dtype=bool)
    for one in np.unique(truth):
        rows = draw.permutation(np.nonzero(truth == one)[0])
        known[rows[: min(labels, len(rows) // 2)]] = True
    adata = adata.copy()
    adata.obs["label"] = np.where(known, truth, UNKNOWN).astype(object)
    return adata, truth, ~known


def scores(truth: np.ndarray, shares: np.ndarray, classes: list[str]) -> Numbers:
    """Return the measures of probabilities ``(N, K)``."""
    from sklearn.metrics import f1_score

    place = {name: k for k, name in enumerate(classes)}
    index = np.array([place[one] for one in truth])
    best, sure = shares.argmax(1), shares.max(1)
    right = best == index
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = [
        abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)
    ]
    return {
        "accuracy": 100 * float(right.mean()),
        "macro_f1": 100 * float(f1_score(index, best, average="macro")),
        "log_loss": float(-np.log(np.maximum(shares[np.arange(len(index)), index], 1e-12)).mean()),
        "calibration": 100 * float(sum(gaps)),
    }


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Fit a method and score the cells whose label was hidden."""
    adata, truth, tested = with_labels(cells(settings["data"]), settings["labels"], seed)
    shares, classes, seconds = METHODS[settings["method"]](adata, seed)
    return {**scores(truth[tested], shares[tested], classes), "cpu": seconds}


EXPERIMENT = Experiment(
    name="cells",
    place="Cell types from few labels",
    about="Types of single cells from 5 to 100 labels per type, beside scANVI.",
    cases=cases,
    run=run,
    measures=(
        Measure("macro_f1", "macro-F1", "%", "higher", 1),
        Measure("accuracy", "accuracy", "%", "higher", 1),
        Measure("log_loss", "log loss", "", "lower", 3),
        Measure("calibration", "calibration error", "%", "lower", 1),
        Measure("cpu", "CPU time", "s", "lower", 1),
    ),
    budgets={"smoke": "seconds", "quick": "up to 2 CPU minutes per case and seed"},
)
