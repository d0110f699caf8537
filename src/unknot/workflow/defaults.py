"""The defaults that depend on the data, in one place; the evidence for them is in docs/defaults.md.

A **table** (rows of numbers and categories, with or without holes) with labels gets an ensemble of small models
(:mod:`unknot.models.ensemble`): few labels, and anybody's columns. Texts have a default of their own
(:mod:`unknot.workflow.text_defaults`), and so have images whose labels are classes
(:mod:`unknot.workflow.image_defaults`). Anything else (a table without labels, one with very many labels, columns or
classes, or one whose rows stay in a file) gets the class-and-style model of :mod:`unknot.models.default_model`, and so
does whoever asks for something of that model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from unknot.data.batch import any_known
from unknot.data.column import Column
from unknot.data.dataset import Dataset
from unknot.data.stored_items import StoredItems
from unknot.models.ensemble_spec import PLAIN_SETTINGS, SETTINGS, EnsembleSpec, read_ensemble
from unknot.models.table_columns import describe_columns
from unknot.workflow.labels import class_count

MOST_LABELS = 5000  # beyond, one larger network learns more than many small ones
MOST_COLUMNS = 1000  # categories counted by their classes
MOST_CLASSES = 200  # beyond, the sum over them takes hours and the memory of the machine

# How an ensemble is trained: its bound, with the KL divergence of the style in closed form; few steps, a high rate.
ENSEMBLE_TRAINING: Mapping[str, Any] = {
    "objective": {"name": "elbo", "analytic": True},
    "steps": 500,
    "batch_size": 64,
    "learning_rate": {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20},
    "betas": [0.9, 0.99],
    "labeled_share": None,
}


def style_size(columns: int) -> int:
    """Dimensions of an ensemble's style: half the columns, from 2 to 20."""
    return min(max(columns // 2, 2), 20)


def suits_ensemble(data: Dataset) -> bool:
    """Whether an ensemble is the default for the data: a table, labels of every factor, neither too much of them."""
    if not is_table(data) or not data.factors or isinstance(data.x, StoredItems):
        return False
    if any(int(factor.known.sum()) < 2 for factor in data.factors.values()):
        return False
    if _classes(data) > MOST_CLASSES:
        return False
    return int(any_known(data, None).sum()) <= MOST_LABELS and _width(data) <= MOST_COLUMNS


def is_table(data: Dataset) -> bool:
    """Rows of columns: described ones, or real numbers; whole numbers are counts of words."""
    if data.table:
        return True
    return isinstance(data.x, Tensor | StoredItems) and data.x.ndim == 2 and data.x.dtype.is_floating_point


def ensemble_for(data: Dataset, **options: Any) -> EnsembleSpec:
    """The ensemble of a table: its columns, its factors, and sizes by the rules above; ``options`` replace them.

    Numbers to be told get plain settings, ridge regression among them, beside the usual ones.
    """
    rows = data.x if isinstance(data.x, Tensor) else data.x[:]
    columns = data.table or tuple(Column(f"column {i}", "real") for i in range(rows.shape[1]))
    described = describe_columns(
        [c.kind for c in columns], rows, [c.name for c in columns], [len(c.classes) for c in columns]
    )
    holes = torch.isnan(rows).any(0).tolist()
    factors = {}
    for name, factor in data.factors.items():
        size = factor.values.shape[1] if factor.values.ndim == 2 else 1
        family = "normal" if factor.kind == "continuous" else "concrete"
        factors[name] = {"family": family, "size": size if family == "normal" else class_count(factor)}
    numbers = any(one["family"] == "normal" for one in factors.values())
    return read_ensemble(
        {
            "columns": [{**c, "holes": True} if h else c for c, h in zip(described, holes, strict=True)],
            "factors": factors,
            "rows": len(data),
            "style": style_size(_width(data)),
            "settings": (*SETTINGS, *PLAIN_SETTINGS) if numbers else SETTINGS,
            **options,
        }
    )


def _classes(data: Dataset) -> int:
    """Classes of the one factor that would cost as much as all: each is an input in every combination of them."""
    counts = [class_count(factor) for factor in data.factors.values() if factor.kind != "continuous"]
    return math.isqrt(math.prod(counts) * sum(counts))


def _width(data: Dataset) -> int:
    """Columns as networks see them, categories one-hot."""
    return sum(max(len(c.classes), 1) for c in data.table) if data.table else data.x.shape[1]
