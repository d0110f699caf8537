"""How well a model of a table fills gaps: entries that are there are hidden, filled, and compared."""

from __future__ import annotations

import numpy as np
import torch

from unknot.data.column import Column
from unknot.data.dataset import Dataset
from unknot.report.section import Section, Table, three_digits
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_model import TrainedModel

_HIDDEN = 0.2  # of all entries
_ITEMS = 1000
_SHOWN = 30  # columns


def imputation(
    model: TrainedModel, data: Dataset, answers: DatasetPrediction, seed: int = 0
) -> list[Section]:
    """One row a column: the error of what the model puts into hidden entries, beside that of the simplest filling."""
    if not data.table or len(data.table) < 2:
        return []
    x = data.batch(range(min(_ITEMS, len(data)))).x
    hide = torch.from_numpy(np.random.default_rng(seed).random(tuple(x.shape)) < _HIDDEN) & ~x.isnan()
    filled = model.reconstruct(torch.where(hide, torch.nan, x)).numpy()
    rows = []
    for i, column in enumerate(data.table[:_SHOWN]):
        hidden = hide[:, i].numpy()
        shown = x[:, i].numpy()[~hidden & ~x[:, i].isnan().numpy()]
        if hidden.any() and len(shown):
            truth = x[:, i].numpy()[hidden]
            errors = _errors(column, truth, filled[hidden, i], shown)
            rows.append((column.name, str(int(hidden.sum())), *errors))
    caption = (
        "A fifth of the entries, drawn at random, were hidden from the model and filled by it. Beside its error: that "
        "of filling with the mean (or the commonest category). Distances of numbers, shares of wrong categories."
    )
    header = ("column", "hidden", "model", "mean")
    return [Section("Filling gaps", caption, table=Table(header, tuple(rows)))] if rows else []


def _errors(column: Column, truth: np.ndarray, filled: np.ndarray, shown: np.ndarray) -> tuple[str, str]:
    """The model's error and that of the simplest filling, in words."""
    if column.kind in ("category", "binary"):
        common = np.bincount(shown.astype(int)).argmax()
        shares = (np.round(filled) != truth).mean(), (common != truth).mean()
        return f"{100 * shares[0]:.0f} %", f"{100 * shares[1]:.0f} %"
    ours, theirs = (np.sqrt(((one - truth) ** 2).mean()) for one in (filled, shown.mean()))
    return three_digits(float(ours)), three_digits(float(theirs))
