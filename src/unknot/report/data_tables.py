"""What is said about the data: how many items and labels, how often each class, the numbers of a table's columns."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import date

import numpy as np
import torch

from unknot import __version__
from unknot.data.dataset import Dataset
from unknot.report.section import Section, TextTable
from unknot.workflow.evaluation import DatasetPrediction, class_probabilities
from unknot.workflow.labels import class_names
from unknot.workflow.trained_model import TrainedModel
from unknot.workflow.verdict.unseen import Unseen, table_of

_CLASSES = 40  # rows of a table of classes


def versions() -> dict[str, str]:
    """The date and the versions that a page was made with."""
    made = f"Unknot {__version__}, torch {torch.__version__}, NumPy {np.__version__}"
    return {"date": date.today().isoformat(), "versions": f"{made}, Python {platform.python_version()}"}


def labels_in_words(data: Dataset) -> str:
    """How many labels of each factor are known."""
    counts = {name: int(factor.known.sum()) for name, factor in data.factors.items()}
    return ", ".join(f"{count:,} labels of {name}" for name, count in counts.items() if count) or "no labels"


def class_counts(
    model: TrainedModel, labeled: Dataset, predictions: DatasetPrediction, shown: int
) -> list[Section]:
    """For every factor with classes: how often each is labeled, and how often it is predicted.

    Parameters
    ----------
    model : TrainedModel
        The model.
    labeled : Dataset
        The data whose labels are counted.
    predictions : DatasetPrediction
        Predictions for the items that the page shows.
    shown : int
        The number of these items.
    """
    sections = []
    for node in model.labeled:
        factor = labeled.factors.get(node.name)
        if factor is None or factor.kind == "continuous":
            continue
        probabilities = class_probabilities(predictions.predictions[node.name])
        count = probabilities.shape[1]
        labels = np.bincount(factor.values.cpu().numpy()[factor.known.cpu().numpy()], minlength=count)
        predicted = np.bincount(probabilities.argmax(1), minlength=count)
        rows = [
            (name, f"{labels[k]:,}", _share(labels, k), _share(predicted, k))
            for k, name in enumerate(class_names(factor, count))
        ]
        if len(rows) > _CLASSES:
            rows = [rows[k] for k in np.sort(np.argsort(-labels, kind="stable")[:_CLASSES])]
        caption = f"Labels of each class, and how often it is predicted for the {shown:,} items shown."
        if count > _CLASSES:
            caption += f" The {_CLASSES} most frequent of {count:,} classes."
        table = TextTable((node.name, "labels", "share of labels", "share predicted"), tuple(rows))
        sections.append(Section(f"Classes of {node.name}", caption, table=table))
    return sections


def _share(counts: np.ndarray, k: int) -> str:
    return f"{100 * counts[k] / counts.sum():.0f} %" if counts.sum() else ""


def measured(unseen: Sequence[Unseen], others: Sequence[Unseen]) -> list[Section]:
    """A table of every number that was measured on unseen labels.

    Parameters
    ----------
    unseen : sequence of Unseen
        The labels that the answers are about.
    others : sequence of Unseen
        The out-of-fold labels of factors whose answers are about held-out ones.
    """
    header, rows = table_of([*unseen, *others])
    if not rows:
        return []
    caption = "Measured on labels that the model was not trained on."
    if any(one.measure.share for one in unseen):
        caption += " A calibrated model has a mean probability equal to its accuracy, and a calibration error near 0."
    return [Section("Numbers", caption, table=TextTable(header, tuple(rows)), wide=True)]
