"""Which columns of a table move when a factor changes and everything else is kept."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.models.spec import NodeSpec
from unknot.plots.shifts import shifts
from unknot.report.section import Section, three_digits
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.trained_model import TrainedModel

_ITEMS = 200  # whose factor is changed
_MEASURED = 10_000  # that tell how far a column spreads
_SHOWN = 20  # columns, those that move most
_MOST_CLASSES = 12
_QUANTILES = (0.1, 0.5, 0.9)  # of the labels: what a number is set to


def moved_columns(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> list[Section]:
    """For every factor of a table a map of its effect on the columns of numbers, in standard deviations of each."""
    numbers = [i for i, column in enumerate(data.table) if column.kind != "category"]
    if not numbers:
        return []
    found = []
    for node in model.settable:
        settings = _settings(node, data) if node.labels else None
        if settings is None:
            continue
        values, names = settings
        rows = data.batch(range(min(_ITEMS, len(data)))).x
        moved = model.vary(rows, node.name, values).numpy()[..., numbers].mean(0)  # (settings, columns)
        many = data.batch(range(min(_MEASURED, len(data)))).x
        scale = np.nanstd(many.numpy()[:, numbers], 0)
        apart = (moved - moved.mean(0)) / np.where(scale > 0, scale, 1)
        order = np.argsort(-np.ptp(apart, axis=0), kind="stable")[:_SHOWN]
        columns = [data.table[numbers[i]].name for i in order]
        found.append(Section(f"What changes with {node.name}", _caption(node, len(order) < len(numbers)),
                             shifts(apart[:, order].T, columns, names)))  # fmt: skip
    return found


def _caption(node: NodeSpec, some: bool) -> str:
    which = f"the {_SHOWN} columns that move most" if some else "every column of numbers"
    return (
        f"The same rows with {node.name} set to each value and everything else kept: how far {which} lies from the "
        "average over the values, in standard deviations of the column, those that move most first."
    )


def _settings(node: NodeSpec, data: Dataset) -> tuple[Tensor, tuple[str, ...]] | None:
    """What a factor is set to, and how that is called; None if nothing is known of it, or too much."""
    factor = data.factors.get(node.name)
    if factor is None:
        return None
    if has_classes(node):
        count = node.size or 0
        return (torch.arange(count), class_names(factor, count)) if count <= _MOST_CLASSES else None
    known = factor.values.cpu()[factor.known.cpu()].reshape(-1, node.size or 1)
    if not len(known) or known.shape[1] != 1:
        return None
    values = known.quantile(torch.tensor(_QUANTILES), dim=0)  # (3, 1)
    return values, tuple(three_digits(float(value)) for value in values)
