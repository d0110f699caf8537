"""The mistakes that the encoder is surest of: as images, or as rows in words."""

from __future__ import annotations

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.excerpt import excerpt
from unknot.data.sparse_counts import SparseCounts
from unknot.plots.image_grid import drawn_in_ink, image_grid
from unknot.report.answered import Answered, answered
from unknot.report.section import Section, Table, three_digits
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_model import TrainedModel

_SHOWN = 10
_LONGEST = 9  # letters of a class's name above an image
_UNUSUAL = 3  # columns of a row that are told


def mistakes(model: TrainedModel, data: Dataset, answers: DatasetPrediction) -> list[Section]:
    """For every factor with classes the surest mistakes, if there are any."""
    found = []
    for one in answered(model, data, answers):
        wrong = np.flatnonzero(one.guess != one.truth)
        if not len(wrong):
            continue
        worst = wrong[np.argsort(-one.sure[wrong], kind="stable")][:_SHOWN]
        title = f"Most confident mistakes: {one.factor}"
        found.append(
            _images(title, one, worst, data) if len(model.shape) == 3 else _rows(title, one, worst, data)
        )
    return found


def _images(title: str, one: Answered, worst: np.ndarray, data: Dataset) -> Section:
    images = data.batch(one.rows[worst].tolist()).x.cpu().numpy()
    names = [
        f"{_short(one, one.truth[i])}\nas {_short(one, one.guess[i])}\n{100 * one.sure[i]:.0f} %"
        for i in worst
    ]
    drawn = image_grid(images[None], columns=names, ink=drawn_in_ink(images), cell=0.8)
    caption = "Above each item: what it is by its label, what the encoder takes it for, and how sure it is."
    return Section(title, caption, drawn, wide=True)


def _short(one: Answered, k: int) -> str:
    name = one.classes[k]
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _rows(title: str, one: Answered, worst: np.ndarray, data: Dataset) -> Section:
    header: tuple[str, ...] = ("item", "label", "recognized as", "sure")
    unusual = _unusual(one, worst, data)
    rows: list[tuple[str, ...]] = []
    for j, i in enumerate(worst):
        names, sure = (one.classes[one.truth[i]], one.classes[one.guess[i]]), f"{100 * one.sure[i]:.0f} %"
        rows.append((str(int(data.ids[one.rows[i]])), *names, sure, *unusual[j : j + 1]))
    caption = "Items by their number in the data, counted from 0."
    if isinstance(data.x, SparseCounts) and data.columns:
        header += ("how it begins",)
        rows = [(*row, excerpt(data, int(one.rows[i]))) for row, i in zip(rows, worst, strict=True)]
    elif unusual:
        header += ("unusual for its label",)
        caption += (
            " The last column: where a row is furthest from the mean of its class, which is in brackets."
        )
    return Section(title, caption, table=Table(header, tuple(rows)), wide=True)


def _unusual(one: Answered, worst: np.ndarray, data: Dataset) -> list[str]:
    """For every mistake the numbers in which its row is furthest from its class, in standard deviations."""
    numbers = [i for i, column in enumerate(data.table) if column.kind in ("real", "count")]
    if not numbers:
        return []
    x = data.batch(one.rows.tolist()).x.cpu().numpy()[:, numbers]
    told = []
    for i in worst:
        mine = x[one.truth == one.truth[i]]
        mean, spread = np.nanmean(mine, 0), np.nanstd(x, 0)
        away = np.nan_to_num(np.abs(x[i] - mean) / np.where(spread > 0, spread, 1))
        first = np.argsort(-away)[:_UNUSUAL]
        told.append(
            ", ".join(
                f"{data.table[numbers[c]].name} {three_digits(x[i, c])} ({three_digits(mean[c])})"
                for c in first
            )
        )
    return told
