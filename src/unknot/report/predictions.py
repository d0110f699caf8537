"""Predictions beside held-out labels: mistakes, calibration, and predicted against true numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import excerpt
from unknot.metrics.prediction_error import reliability
from unknot.plots.classification import predicted_against_true, reliability_diagram
from unknot.plots.images import image_grid
from unknot.report.section import Section, TextTable, three_digits
from unknot.workflow.data_summary import drawn_in_ink
from unknot.workflow.evaluation import DatasetPrediction, class_probabilities
from unknot.workflow.labels import class_names
from unknot.workflow.trained_model import TrainedModel

_MISTAKES = 10  # that are shown
_LONGEST = 9  # letters of a class's name above an image
_UNUSUAL = 3  # columns of a row that are named
_FEWEST = 30  # items below which bins are too noisy
_DIMENSIONS = 3  # of a vector that are shown


@dataclass(frozen=True)
class ClassPredictions:
    """The predicted classes of one factor, for the items whose label is known.

    Parameters
    ----------
    factor : str
        Its name.
    rows : ndarray of int
        Positions of the items in the data.
    truth, predicted : ndarray of int
        Their true and their most probable classes.
    confidence : ndarray of float
        The probability of the predicted class.
    classes : tuple of str
        The names of the classes.
    """

    factor: str
    rows: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    confidence: np.ndarray
    classes: tuple[str, ...]


def class_predictions(
    model: TrainedModel, held_out: Dataset, predictions: DatasetPrediction
) -> Iterator[ClassPredictions]:
    """The predictions of every factor with classes that the data has labels of."""
    for node in model.labeled:
        factor = held_out.factors.get(node.name)
        if factor is None or factor.kind == "continuous" or not bool(factor.known.any()):
            continue
        probabilities = class_probabilities(predictions.predictions[node.name])
        rows = factor.known.cpu().nonzero()[:, 0].numpy()
        yield ClassPredictions(
            node.name,
            rows,
            factor.values.cpu().numpy()[rows],
            probabilities[rows].argmax(-1),
            probabilities[rows].max(-1),
            class_names(factor, probabilities.shape[1]),
        )


def mistakes(model: TrainedModel, held_out: Dataset, predictions: DatasetPrediction) -> list[Section]:
    """The most confident mistakes of every factor with classes, as images or as rows of a table."""
    sections = []
    for one in class_predictions(model, held_out, predictions):
        wrong = np.flatnonzero(one.predicted != one.truth)
        if not len(wrong):
            continue
        worst = wrong[np.argsort(-one.confidence[wrong], kind="stable")][:_MISTAKES]
        show = _as_images if len(model.shape) == 3 else _as_rows
        sections.append(show(f"Most confident mistakes: {one.factor}", one, worst, held_out))
    return sections


def _as_images(title: str, one: ClassPredictions, worst: np.ndarray, data: Dataset) -> Section:
    images = data.batch(one.rows[worst].tolist()).x.cpu().numpy()
    names = [
        f"{_short(one, one.truth[i])}\nas {_short(one, one.predicted[i])}\n{100 * one.confidence[i]:.0f} %"
        for i in worst
    ]
    figure = image_grid(images[None], columns=names, ink=drawn_in_ink(images), cell=0.8)
    caption = "Above each item its label, the predicted class and the probability of this class."
    return Section(title, caption, figure, wide=True)


def _short(one: ClassPredictions, k: int) -> str:
    name = one.classes[k]
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _as_rows(title: str, one: ClassPredictions, worst: np.ndarray, data: Dataset) -> Section:
    header: tuple[str, ...] = ("item", "label", "predicted", "probability")
    unusual = _unusual_columns(one, worst, data)
    rows: list[tuple[str, ...]] = []
    for j, i in enumerate(worst):
        names = one.classes[one.truth[i]], one.classes[one.predicted[i]]
        item = str(int(data.ids[one.rows[i]]))
        rows.append((item, *names, f"{100 * one.confidence[i]:.0f} %", *unusual[j : j + 1]))
    caption = "Items by their number in the data, counted from 0."
    if isinstance(data.x, SparseCounts) and data.columns:
        header += ("first words",)
        rows = [(*row, excerpt(data, int(one.rows[i]))) for row, i in zip(rows, worst, strict=True)]
    elif unusual:
        header += ("unusual for its label",)
        caption += " The last column: where a row is furthest from the mean of its class (in brackets)."
    return Section(title, caption, table=TextTable(header, tuple(rows)), wide=True)


def _unusual_columns(one: ClassPredictions, worst: np.ndarray, data: Dataset) -> list[str]:
    """For every mistake the numbers in which its row is furthest from its class, in standard deviations."""
    numbers = [i for i, column in enumerate(data.table) if column.kind in ("real", "count")]
    if not numbers:
        return []
    x = data.batch(one.rows.tolist()).x.cpu().numpy()[:, numbers]
    texts = []
    for i in worst:
        same_class = x[one.truth == one.truth[i]]
        mean, spread = np.nanmean(same_class, 0), np.nanstd(x, 0)
        distance = np.nan_to_num(np.abs(x[i] - mean) / np.where(spread > 0, spread, 1))
        texts.append(
            ", ".join(
                f"{data.table[numbers[c]].name} {three_digits(x[i, c])} ({three_digits(mean[c])})"
                for c in np.argsort(-distance)[:_UNUSUAL]
            )
        )
    return texts


def calibration(model: TrainedModel, held_out: Dataset, predictions: DatasetPrediction) -> list[Section]:
    """A reliability diagram for every factor with classes and at least 30 labels."""
    sections = []
    for one in class_predictions(model, held_out, predictions):
        if len(one.rows) < _FEWEST:
            continue
        bins = reliability(one.confidence, one.predicted == one.truth)
        caption = (
            f"Accuracy of {one.factor} against the probability of the predicted class; larger dots are more items. "
            f"Below the line predictions are overconfident. Expected calibration error: {100 * bins.error:.1f} % "
            "(mean distance from the line)."
        )
        figure = reliability_diagram(bins.sure.tolist(), bins.right.tolist(), bins.items.tolist())
        sections.append(Section(f"Calibration: {one.factor}", caption, figure))
    return sections


def predicted_and_true(
    model: TrainedModel, held_out: Dataset, predictions: DatasetPrediction
) -> list[Section]:
    """A figure for every dimension of every continuous factor that the data has labels of."""
    sections = []
    for node in model.labeled:
        factor = held_out.factors.get(node.name)
        if factor is None or factor.kind != "continuous" or not bool(factor.known.any()):
            continue
        known = factor.known.cpu().numpy()
        truth = factor.values.cpu().numpy().reshape(len(known), -1)[known]
        predicted = predictions.predictions[node.name][known]
        for d in range(min(truth.shape[1], _DIMENSIONS)):
            name = node.name if truth.shape[1] == 1 else f"{node.name}[{d}]"
            explained = _r_squared(truth[:, d], predicted[:, d])
            caption = f"Each dot is an item; on the line the prediction is right. {explained}"
            figure = predicted_against_true(truth[:, d], predicted[:, d], name)
            sections.append(Section(f"Predicted and true: {name}", caption, figure))
    return sections


def _r_squared(truth: np.ndarray, predicted: np.ndarray) -> str:
    variance = float(truth.var())
    if variance == 0:
        return "All true values are the same."
    share = 1 - float(((predicted - truth) ** 2).mean()) / variance
    return f"Predictions explain {100 * share:.0f} % of the variance (R² = {share:.2f}; always predicting the mean: 0)."
