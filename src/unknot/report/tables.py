"""Sections about models of tables: what moves with a factor, typical rows of its classes, imputation."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Column, Dataset
from unknot.models.spec import NodeSpec
from unknot.plots.codes import shifts
from unknot.report.section import Section, TextTable, three_digits
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.trained_model import TrainedModel

_CHANGED_ROWS = 200  # whose factor is changed
_ROWS = 10_000  # that means and standard deviations are taken of
_MOVED_COLUMNS = 20  # those that move most
_MOST_SETTINGS = 12  # classes that a factor is set to
_QUANTILES = (0.1, 0.5, 0.9)  # of the labels: what a number is set to

_DRAWS = 500
_TYPICAL_CLASSES = 8
_TYPICAL_COLUMNS = 40

_HIDDEN = 0.2  # of all entries
_FILLED_ROWS = 1000
_FILLED_COLUMNS = 30


def moved_columns(model: TrainedModel, data: Dataset) -> list[Section]:
    """For every factor a map of its effect on the columns of numbers, in standard deviations of each column."""
    numbers = [i for i, column in enumerate(data.table) if column.kind != "category"]
    if not numbers:
        return []
    sections = []
    for node in model.settable:
        settings = _settings(node, data) if node.labels else None
        if settings is None:
            continue
        values, names = settings
        rows = data.batch(range(min(_CHANGED_ROWS, len(data)))).x
        moved = model.vary(rows, node.name, values).numpy()[..., numbers].mean(0)  # (settings, columns)
        many = data.batch(range(min(_ROWS, len(data)))).x
        scale = np.nanstd(many.numpy()[:, numbers], 0)
        apart = (moved - moved.mean(0)) / np.where(scale > 0, scale, 1)
        order = np.argsort(-np.ptp(apart, axis=0), kind="stable")[:_MOVED_COLUMNS]
        which = f"the {_MOVED_COLUMNS} columns that move most"
        if len(order) == len(numbers):
            which = "every column of numbers"
        caption = (
            f"The same rows with {node.name} set to each value and everything else kept: the distance of {which} from "
            "the average over the values, in standard deviations of the column. Columns that move most come first."
        )
        columns = [data.table[numbers[i]].name for i in order]
        figure = shifts(apart[:, order].T, columns, names)
        sections.append(Section(f"What changes with {node.name}", caption, figure))
    return sections


def _settings(node: NodeSpec, data: Dataset) -> tuple[Tensor, tuple[str, ...]] | None:
    """The values that a factor is set to and their names; None without labels, or with too many classes."""
    factor = data.factors.get(node.name)
    if factor is None:
        return None
    if has_classes(node):
        count = node.size or 0
        return (torch.arange(count), class_names(factor, count)) if count <= _MOST_SETTINGS else None
    known = factor.values.cpu()[factor.known.cpu()].reshape(-1, node.size or 1)
    if not len(known) or known.shape[1] != 1:
        return None
    values = known.quantile(torch.tensor(_QUANTILES), dim=0)  # (3, 1)
    return values, tuple(three_digits(float(value)) for value in values)


def typical_rows(model: TrainedModel, data: Dataset, seed: int = 0) -> list[Section]:
    """For every factor with classes the expected row of each class, averaged over draws of everything else."""
    sections = []
    for node in model.labeled:
        if not has_classes(node) or not data.table or node.name not in data.factors:
            continue
        names = class_names(data.factors[node.name], node.size or 0)[:_TYPICAL_CLASSES]
        expected = [_drawn(model, node, k, seed) for k in range(len(names))]
        observed_rows = range(min(_ROWS, len(data)))
        x = data.batch(observed_rows).x.cpu()
        classes = data.factors[node.name].values.cpu()[: len(observed_rows)]
        rows = tuple(
            (
                column.name,
                *(_cells(column, drawn[:, i], x[classes == k, i]) for k, drawn in enumerate(expected)),
            )
            for i, column in enumerate(data.table[:_TYPICAL_COLUMNS])
        )
        caption = (
            f"Expected values for each {node.name}, everything else drawn from the prior, and observed values in "
            "brackets: means of numbers, shares of yes, most frequent categories."
        )
        table = TextTable(("column", *names), rows)
        sections.append(Section(f"Typical rows: {node.name}", caption, table=table, wide=len(names) > 2))
    return sections


def _drawn(model: TrainedModel, node: NodeSpec, k: int, seed: int) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # the same draws of everything else for every class
        return model.generate(_DRAWS, {node.name: torch.full((_DRAWS,), k)})


def _cells(column: Column, drawn: Tensor, observed: Tensor) -> str:
    """The expected value, and the observed one in brackets if there is any."""
    observed = observed[~observed.isnan()]
    return f"{_cell(column, drawn)} ({_cell(column, observed)})" if len(observed) else _cell(column, drawn)


def _cell(column: Column, entries: Tensor) -> str:
    """The mean of numbers, the share of yes, the most frequent category and its share."""
    if column.kind == "binary":
        return f"{100 * float(entries.mean()):.0f} %"
    if column.kind != "category":
        return three_digits(float(entries.mean()))
    best = int(entries.long().mode().values)
    share = float((entries.long() == best).float().mean())
    return f"{column.classes[best] if column.classes else best} {100 * share:.0f} %"


def imputation(model: TrainedModel, data: Dataset, seed: int = 0) -> list[Section]:
    """The error of imputed values for each column: entries that are known are hidden, imputed and compared."""
    if not data.table or len(data.table) < 2:
        return []
    x = data.batch(range(min(_FILLED_ROWS, len(data)))).x
    hide = torch.from_numpy(np.random.default_rng(seed).random(tuple(x.shape)) < _HIDDEN) & ~x.isnan()
    imputed = model.reconstruct(torch.where(hide, torch.nan, x)).numpy()
    rows = []
    for i, column in enumerate(data.table[:_FILLED_COLUMNS]):
        hidden = hide[:, i].numpy()
        known = x[:, i].numpy()[~hidden & ~x[:, i].isnan().numpy()]
        if hidden.any() and len(known):
            truth = x[:, i].numpy()[hidden]
            errors = _errors(column, truth, imputed[hidden, i], known)
            rows.append((column.name, str(int(hidden.sum())), *errors))
    caption = (
        "A fifth of the entries, drawn at random, were hidden from the model and imputed. Beside the model's error: "
        "that of the mean (or the most frequent category). Root mean square errors of numbers, shares of wrong "
        "categories."
    )
    header = ("column", "hidden", "model", "mean")
    return [Section("Missing values", caption, table=TextTable(header, tuple(rows)))] if rows else []


def _errors(column: Column, truth: np.ndarray, imputed: np.ndarray, known: np.ndarray) -> tuple[str, str]:
    """The error of the model and that of a constant, in words."""
    if column.kind in ("category", "binary"):
        common = np.bincount(known.astype(int)).argmax()
        shares = (np.round(imputed) != truth).mean(), (common != truth).mean()
        return f"{100 * shares[0]:.0f} %", f"{100 * shares[1]:.0f} %"
    ours, mean = (np.sqrt(((values - truth) ** 2).mean()) for values in (imputed, known.mean()))
    return three_digits(float(ours)), three_digits(float(mean))
