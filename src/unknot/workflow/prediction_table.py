"""Predictions as a table: one row per item, in the users' own class names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unknot.workflow.evaluation import Answers
from unknot.workflow.labels import class_names
from unknot.workflow.measures import class_probabilities
from unknot.workflow.trained_model import TrainedModel


def prediction_table(
    model: TrainedModel, answers: Answers, items: Mapping[str, Sequence[Any]]
) -> tuple[list[str], list[list[str]]]:
    """Header and rows: what tells the items apart, then for each named factor its class and probability, or its
    numbers."""
    header, columns = list(items), [[str(value) for value in values] for values in items.values()]
    for node in model.labelled:
        summary = answers.summaries[node.name]
        factor = model.data.factors[node.name]
        if factor.kind == "continuous":
            for d in range(summary.shape[1]):
                header.append(node.name if summary.shape[1] == 1 else f"{node.name}[{d}]")
                columns.append([f"{value:.6g}" for value in summary[:, d]])
            continue
        shares = class_probabilities(summary)
        names = class_names(factor, shares.shape[1])
        header += [node.name, f"{node.name} probability"]
        columns += [[names[i] for i in shares.argmax(-1)], [f"{p:.4f}" for p in shares.max(-1)]]
    return header, [list(row) for row in zip(*columns, strict=True)]
