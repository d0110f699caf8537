"""Methods of the experiment on cells: class probabilities from a few labels per type."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unknot import StructuredVAE
from unknot.errors import SpecError

UNKNOWN = "Unknown"
SCVI_PYTHON = "UNKNOT_SCVI_PYTHON"  # of an environment that has scvi-tools, which asks for an older pandas
COMPONENTS, VARIABLE, NEIGHBORS, TREES = 50, 2000, 5, 500

# Pre-training by scVI, then scANVI, as in scvi-tools' tutorial of seed labels; epochs are arguments.
SCANVI = """
import sys, time, warnings
warnings.filterwarnings("ignore")
import anndata, numpy, scvi, torch
torch.set_num_threads(1)
scvi.settings.verbosity = 40
path, out, batch, first, second, seed = sys.argv[1:]
scvi.settings.seed = int(seed)
adata = anndata.read_h5ad(path)
options = dict(accelerator="cpu", enable_progress_bar=False, logger=None)
start = time.process_time()
scvi.model.SCVI.setup_anndata(adata, batch_key=batch or None, labels_key="label")
base = scvi.model.SCVI(adata, n_layers=2, n_latent=30, gene_likelihood="nb")
base.train(max_epochs=int(first), **options)
model = scvi.model.SCANVI.from_scvi_model(base, "Unknown", labels_key="label")
model.train(max_epochs=int(second), n_samples_per_label=100, **options)
made = model.predict(soft=True)
numpy.savez(out, p=made.to_numpy(), classes=made.columns.to_numpy().astype(str), cpu=time.process_time() - start)
"""

Probabilities = tuple[np.ndarray, list[str], float]  # (N, K), the K classes, CPU seconds


def variable_genes(adata: Any, genes: int) -> tuple[np.ndarray, Any]:
    """Return the genes with the largest variance of log(1 + counts scaled to the median total), and all values."""
    total = np.asarray(adata.X.sum(1)).reshape(-1, 1)
    values = adata.X.multiply(np.median(total) / total).tocsr().log1p()
    mean = np.asarray(values.mean(0)).ravel()
    variance = np.asarray(values.multiply(values).mean(0)).ravel() - mean**2
    return np.sort(np.argsort(-variance)[:genes]), values


def log_normalized(adata: Any, genes: int) -> np.ndarray:
    """Return the values of the variable genes, ``(N, V)``."""
    chosen, values = variable_genes(adata, genes)
    return np.asarray(values[:, chosen].toarray(), dtype=np.float32)


def unknot(adata: Any, seed: int, **settings: Any) -> Probabilities:
    """Return the probabilities of Unknot's default model."""
    start = time.process_time()
    model = StructuredVAE(seed=seed, verbose=False, verdict=False, **settings).fit(adata, label="label")
    made = model.predict_proba(adata)
    return made, [str(one) for one in model.classes_["label"]], time.process_time() - start


def by_classifier(make: Callable[[int], Any], components: bool) -> Callable[..., Probabilities]:
    """Return a method that fits a classifier of scikit-learn on components, or on variable genes."""

    def method(adata: Any, seed: int) -> Probabilities:
        from sklearn.decomposition import PCA

        start = time.process_time()
        rows = log_normalized(adata, VARIABLE)
        if components:
            size = min(COMPONENTS, *rows.shape) - (min(rows.shape) <= COMPONENTS)
            rows = PCA(size, random_state=seed, svd_solver="randomized").fit_transform(rows)
        labels = adata.obs["label"].astype(str).to_numpy()
        known = labels != UNKNOWN
        fitted = make(seed).fit(rows[known], labels[known])
        return fitted.predict_proba(rows), list(fitted.classes_), time.process_time() - start

    return method


def logistic_regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def neighbors(seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(NEIGHBORS)


def forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=seed)


def scanvi(adata: Any, seed: int, epochs: tuple[int, int] = (100, 20)) -> Probabilities:
    """Return the probabilities of scANVI, which runs in the environment of ``UNKNOT_SCVI_PYTHON``."""
    python = os.environ.get(SCVI_PYTHON)
    if not python:
        raise SpecError(
            f"cells: scANVI runs in an environment of its own (pip install scvi-tools); name its Python: {SCVI_PYTHON}."
        )
    part = adata[:, variable_genes(adata, VARIABLE)[0]].copy()
    batch = "donor" if "donor" in part.obs else ""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "cells.h5ad"), Path(folder, "made.npz")
        for frame in (part.obs, part.var):
            frame.index = frame.index.astype(object)
        part.obs = part.obs[["label", *([batch] if batch else [])]].astype(object)
        part.write_h5ad(path)
        words = [str(path), str(out), batch, *map(str, epochs), str(seed)]
        subprocess.run([python, "-c", SCANVI, *words], check=True, capture_output=True)
        made = np.load(out)
        return made["p"], made["classes"].tolist(), float(made["cpu"])


METHODS: Mapping[str, Callable[..., Probabilities]] = {
    "unknot": unknot,
    "scanvi": scanvi,
    "logistic regression": by_classifier(logistic_regression, True),
    "neighbors": by_classifier(neighbors, True),
    "forest": by_classifier(forest, False),
}
