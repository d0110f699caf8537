"""Tables of a model of tables: what a row looks like on average for each class of a factor, expected and observed."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.data.column import Column
from unknot.data.dataset import Dataset
from unknot.models.spec import NodeSpec
from unknot.report.section import Section, Table, three_digits
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.trained_model import TrainedModel

_DRAWS = 500
_OBSERVED = 10_000  # rows
_MOST_CLASSES = 8
_MOST_COLUMNS = 40


def typical_rows(
    model: TrainedModel, data: Dataset, answers: DatasetPrediction, seed: int = 0
) -> list[Section]:
    """For every factor with classes: the mean over what else is drawn from the prior, class by class."""
    found = []
    for node in model.labeled:
        if not has_classes(node) or not data.table or node.name not in data.factors:
            continue
        names = class_names(data.factors[node.name], node.size or 0)[:_MOST_CLASSES]
        expected = [_drawn(model, node, k, seed) for k in range(len(names))]
        rows_seen = range(min(_OBSERVED, len(data)))
        x, classes = data.batch(rows_seen).x.cpu(), data.factors[node.name].values.cpu()[: len(rows_seen)]
        rows = tuple(
            (
                column.name,
                *(_both(column, drawn[:, i], x[classes == k, i]) for k, drawn in enumerate(expected)),
            )
            for i, column in enumerate(data.table[:_MOST_COLUMNS])
        )
        caption = (
            f"What the model expects for each {node.name}, everything else drawn from the prior, and in brackets what "
            "was observed: means of numbers, the share of yes, the commonest category."
        )
        table = Table(("column", *names), rows)
        found.append(Section(f"Typical rows: {node.name}", caption, table=table, wide=len(names) > 2))
    return found


def _drawn(model: TrainedModel, node: NodeSpec, k: int, seed: int) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # the same draws of everything else for every class
        return model.generate(_DRAWS, {node.name: torch.full((_DRAWS,), k)})


def _both(column: Column, drawn: Tensor, seen: Tensor) -> str:
    """A cell: what is expected, and in brackets what was observed, if anything was."""
    seen = seen[~seen.isnan()]
    return _cell(column, drawn) if len(seen) == 0 else f"{_cell(column, drawn)} ({_cell(column, seen)})"


def _cell(column: Column, entries: Tensor) -> str:
    """The mean of numbers, the share of yes, the commonest category and how common it is."""
    if column.kind == "binary":
        return f"{100 * float(entries.mean()):.0f} %"
    if column.kind != "category":
        return three_digits(float(entries.mean()))
    best = int(entries.long().mode().values)
    share = float((entries.long() == best).float().mean())
    return f"{column.classes[best] if column.classes else best} {100 * share:.0f} %"
