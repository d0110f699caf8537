"""Predictions as a table: one row per item, with the user's class names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.workflow.answers import listed, p_values
from unknot.workflow.conformal import prediction_intervals, prediction_sets
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.labels import class_names
from unknot.workflow.trained_model import TrainedModel, items_at_once

PROBABILITY, SET, LOW, HIGH, NOVELTY = " probability", " set", " low", " high", "novelty"  # column names
DEPTH = " depth "  # and a number: nodes of the tree of classes
BETWEEN = "|"  # the classes of a set


def prediction_rows(
    model: TrainedModel,
    data: Dataset,
    names: Sequence[str],
    identifiers: Iterable[Sequence[Any]],
    level: float = 0.9,
) -> Iterator[list[str]]:
    """Yield the header, then a row for each item, one batch at a time.

    Parameters
    ----------
    model : TrainedModel
        The model.
    data : Dataset
        The items.
    names : sequence of str
        The first columns, which identify the items.
    identifiers : iterable of sequence
        Their cells, for each item.
    level : float, default=0.9
        The probability with which sets and intervals hold the truth.

    Yields
    ------
    list of str
    """
    rest, began, done = iter(identifiers), False, 0
    is_odd = np.zeros(len(data), dtype=bool)
    is_odd[list(data.odd_rows)] = True
    for batch in data.batches(items_at_once(model.shape), shuffle=False):
        part = list(itertools.islice(rest, len(batch)))
        items = dict(zip(names, zip(*part, strict=True), strict=True))
        predictions = model.predict_batch(batch.x, model.known_inputs(batch)).predictions
        absent = {name: rows.numpy() for name, rows in model.program.not_applicable(predictions).items()}
        odd = is_odd[done : done + len(batch)]
        without = {node.name: odd | absent.get(node.name, False) for node in model.labeled}
        done += len(batch)
        arrays = {name: values.numpy() for name, values in predictions.items()}
        header, rows = prediction_table(model, arrays, items, without, level)
        if model.novelty is not None:
            header.append(NOVELTY)
            cells = _cells(odd, [f"{value:.4f}" for value in p_values(model, batch.x)])
            rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
        if not began:
            yield header
            began = True
        yield from rows


def prediction_table(
    model: TrainedModel,
    predictions: Mapping[str, np.ndarray],
    items: Mapping[str, Sequence[Any]],
    not_applicable: Mapping[str, np.ndarray] | None = None,
    level: float = 0.9,
) -> tuple[list[str], list[list[str]]]:
    """Return a table of predictions, one row for each item.

    Parameters
    ----------
    model : TrainedModel
        The model that made the predictions.
    predictions : mapping from factor to array
        Class probabilities ``(N, K)`` or means ``(N, D)``.
    items : mapping from column to sequence
        The first columns, which identify the items.
    not_applicable : mapping from factor to array, optional
        Items that do not have the factor, ``(N,)`` of bool. Their cells are empty.
    level : float, default=0.9
        The probability with which sets and intervals hold the truth.

    Returns
    -------
    header : list of str
        The names of the columns. A factor with classes has its class and the probability, any other one its means. If
        the model has out-of-fold predictions, there are conformal sets and intervals too. If the classes have a tree,
        there are the most probable nodes at each depth above the classes, with their probabilities.
    rows : list of list of str
    """
    header, columns = list(items), [[str(value) for value in values] for values in items.values()]
    for node in model.labeled:
        values = predictions[node.name]
        factor = model.data.factors[node.name]
        empty = (not_applicable or {}).get(node.name, np.zeros(len(values), dtype=bool))
        if factor.kind == "continuous":
            for d in range(values.shape[1]):
                header.append(node.name if values.shape[1] == 1 else f"{node.name}[{d}]")
                columns.append(_cells(empty, [f"{value:.6g}" for value in values[:, d]]))
                if node.name in model.out_of_fold:
                    ends = prediction_intervals(model.out_of_fold[node.name], values, level)[:, d]
                    for end, column in zip((LOW, HIGH), ends.T, strict=True):
                        header.append(f"{header[-1].removesuffix(LOW)}{end}")
                        columns.append(_cells(empty, [f"{value:.6g}" for value in column]))
            continue
        shares = class_probabilities(values)
        names = class_names(factor, shares.shape[1])
        header += [node.name, f"{node.name}{PROBABILITY}"]
        columns.append(_cells(empty, [names[i] for i in shares.argmax(-1)]))
        columns.append(_cells(empty, [f"{p:.4f}" for p in shares.max(-1)]))
        if node.name in model.out_of_fold:
            header.append(f"{node.name}{SET}")
            mask = prediction_sets(model.out_of_fold[node.name], values, level)
            columns.append(_cells(empty, [BETWEEN.join(one) for one in listed(mask, values, names)]))
        for depth in range(
            1, factor.tree.depth if factor.tree else 0
        ):  # the last depth are the classes themselves
            assert factor.tree is not None
            sums = factor.tree.sums(torch.from_numpy(shares), depth).numpy()
            nodes, title = factor.tree.at_depth(depth), f"{node.name}{DEPTH}{depth}"
            header += [title, f"{title}{PROBABILITY}"]
            columns.append(_cells(empty, [nodes[i] for i in sums.argmax(-1)]))
            columns.append(_cells(empty, [f"{p:.4f}" for p in sums.max(-1)]))
    return header, [list(row) for row in zip(*columns, strict=True)]


def _cells(empty: np.ndarray, words: list[str]) -> list[str]:
    return ["" if without else word for without, word in zip(empty, words, strict=True)]
