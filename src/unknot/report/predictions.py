"""Predictions beside unseen labels: confusion, calibration, mistakes, uncertain items, predicted and true numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.text_dataset import excerpt
from unknot.plots.classification import confusion, predicted_against_true, reliability_diagram
from unknot.plots.images import image_grid
from unknot.plots.style import wrapped
from unknot.report.section import Section, TextTable, three_digits
from unknot.workflow.data_summary import drawn_in_ink
from unknot.workflow.verdict.unseen import Unseen

_SHOWN = 10  # mistakes, and uncertain items
_LETTERS = 12  # in a line above an image
_UNUSUAL = 3  # columns of a row that are named
_FEWEST = 30  # items below which bins are too noisy
_DIMENSIONS = 3  # of a vector that are shown


def doubts(unseen: Sequence[Unseen], data: Dataset) -> list[Section]:
    """Return all sections about the mistakes of every factor.

    Parameters
    ----------
    unseen : sequence of Unseen
        Predictions for labels that the model was not trained on.
    data : Dataset
        The items that are shown.
    """
    sections = []
    for one in unseen:
        if one.measure.share:
            sections += [confusions(one), *calibration(one), *mistakes(one, data)]
        else:
            sections += predicted_and_true(one)
    return sections


def confusions(one: Unseen) -> Section:
    """The confusion matrix."""
    caption = (
        f"Confusion of {one.where}. Rows are the labels, columns the predictions; shading is the share of a row. On "
        "the right: the recall, the share of a class that is predicted correctly."
    )
    return Section(f"Confusion: {one.factor}", caption, confusion(one.confusion, one.classes, one.factor))


def calibration(one: Unseen) -> list[Section]:
    """A reliability diagram, for at least 30 labels."""
    if len(one) < _FEWEST:
        return []
    bins = one.calibration
    caption = (
        f"Accuracy on {one.where} against the probability of the predicted class; larger dots are more items. Below "
        f"the line predictions are overconfident. Expected calibration error: {100 * bins.error:.1f} % (mean distance "
        "from the line)."
    )
    figure = reliability_diagram(bins.sure.tolist(), bins.right.tolist(), bins.items.tolist())
    return [Section(f"Calibration: {one.factor}", caption, figure)]


def mistakes(one: Unseen, data: Dataset) -> list[Section]:
    """The most confident mistakes, as images or as rows of a table."""
    wrong = np.flatnonzero(~one.right & (one.rows >= 0))
    if not len(wrong):
        return []
    worst = wrong[np.argsort(-one.confidence[wrong], kind="stable")][:_SHOWN]
    show = _as_images if len(data.item_shape) == 3 else _as_rows
    return [show(f"Most confident mistakes: {one.factor}", one, worst, data)]


def uncertain(
    factor: str, classes: Sequence[str], probabilities: np.ndarray, rows: np.ndarray, data: Dataset
) -> list[Section]:
    """The items whose predictions are the least certain, with their two most probable classes.

    Parameters
    ----------
    factor : str
        The factor.
    classes : sequence of str
        The names of its classes.
    probabilities : ndarray, shape (n, K)
        Their probabilities for the items.
    rows : ndarray of int, shape (n,)
        Positions of the items in the data.
    data : Dataset
        The items that are shown.
    """
    order = np.argsort(probabilities.max(1), kind="stable")[:_SHOWN]
    if not len(order):
        return []
    best = np.argsort(-probabilities[order], axis=1, kind="stable")[:, :2]  # (n, 2)
    shown = [
        [f"{classes[k]} ({100 * probabilities[i, k]:.0f} %)" for k in two]
        for i, two in zip(order, best, strict=True)
    ]
    title = f"Most uncertain items: {factor}"
    caption = f"Items with the least certain predictions of {factor}, and their two most probable classes."
    if len(data.item_shape) == 3:
        images = data.batch(rows[order].tolist()).x.cpu().numpy()
        names = ["\n".join(wrapped(name, _LETTERS, 2) for name in two) for two in shown]
        figure = image_grid(images[None], columns=names, ink=drawn_in_ink(images), cell=1.05)
        return [Section(title, caption, figure, wide=True)]
    header: tuple[str, ...] = ("item", "most probable", "second")
    lines: list[tuple[str, ...]] = [
        (str(int(data.ids[rows[i]])), *two) for i, two in zip(order, shown, strict=True)
    ]
    words = isinstance(data.x, SparseCounts) and bool(data.columns)
    if words:
        header += ("commonest genes" if isinstance(data, CellDataset) else "first words",)
        lines = [(*line, excerpt(data, int(rows[i]))) for line, i in zip(lines, order, strict=True)]
    return [Section(title, f"{caption} {_NUMBERED}", table=TextTable(header, tuple(lines)), wide=words)]


_NUMBERED = "Items by their number in the data, counted from 0."


def _as_images(title: str, one: Unseen, worst: np.ndarray, data: Dataset) -> Section:
    images = data.batch(one.rows[worst].tolist()).x.cpu().numpy()
    names = [
        f"{_short(one, one.truth[i])}\nas {_short(one, one.predicted[i])}\n{100 * one.confidence[i]:.0f} %"
        for i in worst
    ]
    figure = image_grid(images[None], columns=names, ink=drawn_in_ink(images), cell=1.05)
    caption = (
        f"Wrong predictions with the highest probabilities, of {one.where}. Above each item its label, the predicted "
        "class and the probability of this class."
    )
    return Section(title, caption, figure, wide=True)


def _short(one: Unseen, k: int) -> str:
    return wrapped(one.classes[k], _LETTERS, 2)


def _as_rows(title: str, one: Unseen, worst: np.ndarray, data: Dataset) -> Section:
    header: tuple[str, ...] = ("item", "label", "predicted", "probability")
    unusual = _unusual_columns(one, worst, data)
    rows: list[tuple[str, ...]] = []
    for j, i in enumerate(worst):
        names = one.classes[one.truth[i]], one.classes[one.predicted[i]]
        item = str(int(data.ids[one.rows[i]]))
        rows.append((item, *names, f"{100 * one.confidence[i]:.0f} %", *unusual[j : j + 1]))
    caption = f"Wrong predictions with the highest probabilities, of {one.where}. {_NUMBERED}"
    if isinstance(data.x, SparseCounts) and data.columns:
        header += ("commonest genes" if isinstance(data, CellDataset) else "first words",)
        rows = [(*row, excerpt(data, int(one.rows[i]))) for row, i in zip(rows, worst, strict=True)]
    elif unusual:
        header += ("unusual for its label",)
        caption += " The last column: where a row is furthest from the mean of its class (in brackets)."
    return Section(title, caption, table=TextTable(header, tuple(rows)), wide=True)


def _unusual_columns(one: Unseen, worst: np.ndarray, data: Dataset) -> list[str]:
    """For every mistake the numbers in which its row is furthest from its class, in standard deviations."""
    numbers = [i for i, column in enumerate(data.table) if column.kind in ("real", "count")]
    if not numbers:
        return []
    there = one.rows >= 0
    x = data.batch(one.rows[there].tolist()).x.cpu().numpy()[:, numbers]
    truth, places = one.truth[there], np.cumsum(there) - 1
    texts = []
    for i in worst:
        row, same_class = x[places[i]], x[truth == one.truth[i]]
        mean, spread = np.nanmean(same_class, 0), np.nanstd(x, 0)
        distance = np.nan_to_num(np.abs(row - mean) / np.where(spread > 0, spread, 1))
        texts.append(
            ", ".join(
                f"{data.table[numbers[c]].name} {three_digits(row[c])} ({three_digits(mean[c])})"
                for c in np.argsort(-distance)[:_UNUSUAL]
            )
        )
    return texts


def predicted_and_true(one: Unseen) -> list[Section]:
    """A figure for every dimension of a continuous factor."""
    sections = []
    for d in range(min(one.truth.shape[1], _DIMENSIONS)):
        name = one.factor if one.truth.shape[1] == 1 else f"{one.factor}[{d}]"
        truth, predicted = one.truth[:, d], one.predictions[:, d]
        caption = (
            f"Predictions for {one.where}: each dot is an item; on the line the prediction is right. "
            f"{_r_squared(truth, predicted)}"
        )
        sections.append(
            Section(f"Predicted and true: {name}", caption, predicted_against_true(truth, predicted, name))
        )
    return sections


def _r_squared(truth: np.ndarray, predicted: np.ndarray) -> str:
    variance = float(truth.var())
    if variance == 0:
        return "All true values are the same."
    share = 1 - float(((predicted - truth) ** 2).mean()) / variance
    return f"Predictions explain {100 * share:.0f} % of the variance (R² = {share:.2f}; always predicting the mean: 0)."
