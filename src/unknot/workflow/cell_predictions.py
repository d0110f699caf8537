"""Predictions for cells, written into AnnData as scanpy's users expect them: obs, obsm and uns."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from unknot import __version__
from unknot.data.cell_dataset import CellDataset
from unknot.workflow.answers import listed, p_values, sets
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.labels import class_names
from unknot.workflow.prediction_table import BETWEEN
from unknot.workflow.trained_model import TrainedModel, items_at_once

EMBEDDING, PROVENANCE = "X_unknot", "unknot"


def annotate(model: TrainedModel, adata: Any, cells: CellDataset, level: float = 0.9) -> None:
    """Write predictions into an AnnData object.

    ``obs`` gets, for a factor with classes, ``NAME_predicted``, ``NAME_probability`` and, if the model has out-of-fold
    predictions, ``NAME_set``, the classes of a prediction set joined by "|"; for numbers ``NAME_predicted``. With a
    reference of training cells there is ``novelty``, a p-value. ``obsm["X_unknot"]`` has the probabilities and codes of
    all variables, ``uns["unknot"]`` where they come from. Cells without a prediction have missing values.

    Parameters
    ----------
    model : TrainedModel
        A model of cells.
    adata : AnnData
        Is changed.
    cells : CellDataset
        The same cells, with the genes of the model.
    level : float, default=0.9
        The coverage of the prediction sets.
    """
    parts, novelty = [], []
    for batch in cells.batches(items_at_once(model.shape), shuffle=False):
        parts.append(model.predict_batch(batch.x, model.known_inputs(batch)).predictions)
        if model.novelty is not None:
            novelty.append(p_values(model, batch.x))
    predictions = {name: torch.cat([part[name] for part in parts]).numpy() for name in parts[0]}
    odd = np.zeros(len(cells), dtype=bool)
    odd[list(cells.odd_rows)] = True
    for node in model.labeled:
        _write_factor(model, adata, node.name, predictions[node.name], odd, level)
    if novelty:
        adata.obs["novelty"] = np.where(odd, np.nan, np.concatenate(novelty))
    embedding = np.concatenate([predictions[node.name] for node in model.latents], 1).astype(np.float32)
    embedding[odd] = np.nan
    adata.obsm[EMBEDDING] = embedding
    adata.uns[PROVENANCE] = {
        "version": __version__,
        "model": "described" if model.source.default is None else model.source.default.name,
        "factors": [node.name for node in model.labeled],
        "trained_labels": {name: len(digests) for name, digests in model.trained_labels.items()},
        "columns": [f"{node.name}[{i}]" for node in model.latents for i in range(node.size or 0)],
        "layer": cells.layer,
        "missing_genes": list(cells.missing),
        "level": level,
    }


def _write_factor(
    model: TrainedModel, adata: Any, name: str, predictions: np.ndarray, odd: np.ndarray, level: float
) -> None:
    import pandas

    factor = model.data.factors[name]
    if factor.kind == "continuous":
        for d in range(predictions.shape[1]):
            column = f"{name}_predicted" if predictions.shape[1] == 1 else f"{name}_predicted_{d}"
            adata.obs[column] = np.where(odd, np.nan, predictions[:, d])
        return
    shares = class_probabilities(predictions)
    classes = pandas.Index(class_names(factor, shares.shape[1]), dtype=object)  # which anndata can write
    codes = np.where(odd, -1, shares.argmax(1))
    adata.obs[f"{name}_predicted"] = pandas.Categorical.from_codes(codes, classes)
    adata.obs[f"{name}_probability"] = np.where(odd, np.nan, shares.max(1))
    if name not in model.out_of_fold:
        return
    chosen = listed(sets(model, predictions, name, level), predictions, list(classes))
    texts = ["" if without else BETWEEN.join(one) for one, without in zip(chosen, odd, strict=True)]
    adata.obs[f"{name}_set"] = pandas.Series(texts, adata.obs.index, dtype=object)
