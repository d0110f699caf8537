"""Tables of a model of tables: what a row looks like on average for each class of a factor."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.data.column import Column
from unknot.data.dataset import Dataset
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.trained_model import TrainedModel

_DRAWS = 500


@dataclass(frozen=True)
class TypicalRows:
    """One row for each class of a factor, one cell for each column of the data."""

    factor: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # class, cells


def typical_rows(model: TrainedModel, data: Dataset, seed: int = 0) -> list[TypicalRows]:
    """For every factor with classes: the mean over what else is drawn from the prior, class by class."""
    found = []
    for node in model.labelled:
        if not has_classes(node) or not data.table:
            continue
        rows = []
        names = class_names(data.factors[node.name], node.size or 0)
        for k, name in enumerate(names):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)  # the same draws of everything else for every class
                drawn = model.generate(_DRAWS, {node.name: torch.full((_DRAWS,), k)})
            cells = tuple(_cell(column, drawn[:, i]) for i, column in enumerate(data.table))
            rows.append((name, cells))
        found.append(TypicalRows(node.name, tuple(column.name for column in data.table), tuple(rows)))
    return found


def _cell(column: Column, drawn: Tensor) -> str:
    """Means of numbers, the share of yes, the commonest category and how common it is."""
    if column.kind == "binary":
        return f"{100 * float(drawn.mean()):.0f} %"
    if column.kind != "category":
        return f"{float(drawn.mean()):.3g}"
    best = int(drawn.long().mode().values)
    share = float((drawn.long() == best).float().mean())
    return f"{column.classes[best] if column.classes else best} ({100 * share:.0f} %)"
