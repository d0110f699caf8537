"""Predictions as a table: one row per item, in the users' own class names."""

from __future__ import annotations

import numpy as np

from unknot.data.dataset import Dataset
from unknot.experiments.evaluation import Answers
from unknot.models.graphical_model import GraphicalModel


def prediction_table(
    model: GraphicalModel, train: Dataset, asked: Dataset, answers: Answers
) -> tuple[list[str], list[list[str]]]:
    """Header and rows: id, then for each named factor its class and probability, or its numbers."""
    header, columns = ["id"], [[str(i) for i in asked.ids.tolist()]]
    for node in model.spec.labelled:
        summary = answers.summaries[node.name]
        factor = train.factors[node.name]
        if factor.kind == "continuous":
            for d in range(summary.shape[1]):
                header.append(node.name if summary.shape[1] == 1 else f"{node.name}[{d}]")
                columns.append([f"{value:.6g}" for value in summary[:, d]])
            continue
        best = summary.argmax(-1)
        names = np.asarray(
            factor.classes if factor.classes is not None else range(summary.shape[1]), dtype=object
        )
        header += [node.name, f"{node.name} probability"]
        columns += [[str(names[i]) for i in best], [f"{p:.4f}" for p in summary.max(-1)]]
    return header, [list(row) for row in zip(*columns, strict=True)]
