"""Cells: the memory and time of a fit on a file of 100,000 x 20,000, and the speed of training beside scVI's.

The file is synthetic, 5 % dense, with 10 types of which each has 20 labels. A process of its own runs `unknot fit` on
it; its largest resident memory counts. The speed is that of the model with a negative binomial likelihood (kind:
class_style) on 4,000 cells of 2,000 genes, hidden layers of 128, 10 dimensions, batches of 128; scVI has the same
sizes. scVI runs in an environment of its own, whose Python UNKNOT_SCVI_PYTHON names; otherwise its row is left out.

    pip install -c constraints.txt -e '.[cells]'
    OMP_NUM_THREADS=1 python -m benchmarks cells_fit
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.row import row

CELLS, GENES, READS, TYPES, LABELS = 100_000, 20_000, 1_080, 10, 20
GOAL = 3.0  # GB
SMALL, EPOCHS = (4_000, 2_000), 20

SCVI = """
import sys, time, warnings
warnings.filterwarnings("ignore")
import anndata, scvi, torch
torch.set_num_threads(1)
scvi.settings.verbosity = 40
adata = anndata.read_h5ad(sys.argv[1])
scvi.model.SCVI.setup_anndata(adata)
options = dict(accelerator="cpu", batch_size=128, train_size=1.0, enable_progress_bar=False, logger=None)
model = scvi.model.SCVI(adata, n_hidden=128, n_latent=10)
model.train(max_epochs=1, **options)
start = time.process_time()
model.train(max_epochs=int(sys.argv[2]), **options)
print(adata.n_obs * int(sys.argv[2]) / (time.process_time() - start))
"""


def write_cells(path: Path, cells: int, genes: int, seed: int = 0) -> None:
    """Write synthetic cells: every type prefers genes of its own; genes are drawn by a long-tailed law."""
    import anndata
    import pandas
    from scipy import sparse

    draw = np.random.default_rng(seed)
    share = 1.0 / np.arange(50, genes + 50) ** 0.5
    laws = np.stack([np.cumsum(share * draw.gamma(2.0, 0.5, genes)) for _ in range(TYPES)])
    laws /= laws[:, -1:]
    kind, parts = draw.integers(0, TYPES, cells), []
    reads = READS * genes // GENES
    for start in range(0, cells, 2_000):
        some = kind[start : start + 2_000]
        columns = np.empty((len(some), reads), dtype=np.int32)
        for k in range(TYPES):
            columns[some == k] = np.searchsorted(laws[k], draw.random((int((some == k).sum()), reads)))
        block = sparse.csr_matrix(
            (np.ones(columns.size, np.float32), columns.ravel(), np.arange(len(some) + 1) * reads),
            shape=(len(some), genes),
        )
        block.sum_duplicates()
        parts.append(block)
    labels = np.full(cells, "Unknown", dtype=object)
    for k in range(TYPES):
        labels[np.nonzero(kind == k)[0][:LABELS]] = f"type {k}"
    names = [
        pandas.Index([f"{word} {i}" for i in range(n)], dtype=object)
        for word, n in (("c", cells), ("g", genes))
    ]
    obs = pandas.DataFrame({"kind": pandas.Series(labels, names[0], dtype=object)}, index=names[0])
    anndata.AnnData(sparse.vstack(parts, "csr"), obs, pandas.DataFrame(index=names[1])).write_h5ad(path)


def trained_cells_per_second(path: Path) -> float:
    """Return the speed of training the model of counts."""
    import anndata

    from unknot import StructuredVAE

    torch.set_num_threads(1)
    adata = anndata.read_h5ad(path)
    spent = []
    for steps in (SMALL[0] // 128, (1 + EPOCHS) * SMALL[0] // 128):
        model = {
            "kind": "class_style",
            "width": 128,
            "style": 10,
            "x": {"decoder": {"name": "mlp", "hidden": [128]}},
        }
        start = time.process_time()
        StructuredVAE(
            model=model, steps=steps, batch_size=128, cross_fit=0, verbose=False, verdict=False
        ).fit(adata)
        spent.append(time.process_time() - start)
    return EPOCHS * SMALL[0] / (spent[1] - spent[0])


def run() -> list[dict[str, Any]]:
    """Return the rows."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder, "large.h5ad"), Path(folder, "small.h5ad")
        write = "import sys; from pathlib import Path; from benchmarks.cells_fit import write_cells; "
        write += "write_cells(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))"
        for path, (cells, genes) in ((large, (CELLS, GENES)), (small, SMALL)):
            subprocess.run([sys.executable, "-c", write, str(path), str(cells), str(genes)], check=True)
        command = [sys.executable, "-m", "unknot", "fit", str(large), "--label", "kind", "--no-verdict"]
        watch = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
            "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
            "print(used.ru_maxrss / 2**20, used.ru_utime + used.ru_stime)"
        )
        out = subprocess.run(
            [sys.executable, "-c", watch, *command, "-o", str(Path(folder, "run"))],
            check=True,
            capture_output=True,
            text=True,
        )
        memory, seconds = map(float, out.stdout.split())
        rows.append(row("fit of 100,000 x 20,000 cells: largest resident memory", memory, "GB", GOAL))
        rows.append(row("fit of 100,000 x 20,000 cells: CPU time", seconds, "s"))
        rows.append(row("model of counts, training", trained_cells_per_second(small), "cells/s"))
        python = os.environ.get("UNKNOT_SCVI_PYTHON")
        if python:
            done = subprocess.run(
                [python, "-c", SCVI, str(small), str(EPOCHS)], check=True, capture_output=True, text=True
            )
            rows.append(row("scVI, training", float(done.stdout.split()[-1]), "cells/s"))
    return rows
