"""Predictions as a table: one row per item, in the users' own class names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.workflow.item_rows import items_at_once
from unknot.workflow.labels import class_names
from unknot.workflow.measures import class_probabilities
from unknot.workflow.trained_model import TrainedModel


def prediction_rows(
    model: TrainedModel, data: Dataset, names: Sequence[str], told: Iterable[Sequence[Any]]
) -> Iterator[list[str]]:
    """The header, then a row for each item of ``data``, made while they are asked for: memory follows the batch.

    ``told`` is what tells the items apart, a sequence for each of them, under ``names``.
    """
    rest, began = iter(told), False
    for batch in data.batches(items_at_once(model.shape), shuffle=False):
        part = list(itertools.islice(rest, len(batch)))
        items = dict(zip(names, zip(*part, strict=True), strict=True))
        said = model.recognise(batch.x).summaries
        absent = {name: nothing.numpy() for name, nothing in _absent(model, said).items()}
        header, rows = prediction_table(model, {name: s.numpy() for name, s in said.items()}, items, absent)
        if not began:
            yield header
            began = True
        yield from rows


def prediction_table(
    model: TrainedModel,
    summaries: Mapping[str, np.ndarray],
    items: Mapping[str, Sequence[Any]],
    absent: Mapping[str, np.ndarray] | None = None,
) -> tuple[list[str], list[list[str]]]:
    """Header and rows: what tells the items apart, then for each named factor its class and probability, or its
    numbers; nothing for items ``(N,)`` that have no such factor, by its name in ``absent``."""
    header, columns = list(items), [[str(value) for value in values] for values in items.values()]
    for node in model.labelled:
        summary = summaries[node.name]
        factor = model.data.factors[node.name]
        nothing = (absent or {}).get(node.name, np.zeros(len(summary), dtype=bool))
        if factor.kind == "continuous":
            for d in range(summary.shape[1]):
                header.append(node.name if summary.shape[1] == 1 else f"{node.name}[{d}]")
                columns.append(_cells(nothing, [f"{value:.6g}" for value in summary[:, d]]))
            continue
        shares = class_probabilities(summary)
        names = class_names(factor, shares.shape[1])
        header += [node.name, f"{node.name} probability"]
        columns.append(_cells(nothing, [names[i] for i in shares.argmax(-1)]))
        columns.append(_cells(nothing, [f"{p:.4f}" for p in shares.max(-1)]))
    return header, [list(row) for row in zip(*columns, strict=True)]


def _absent(model: TrainedModel, said: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Which items have no such factor, ``(N,)`` by its name: what a program's method ``absent(summaries)`` says."""
    program: Any = model.module
    found: Mapping[str, Tensor] = program.absent(said) if hasattr(program, "absent") else {}
    return found


def _cells(nothing: np.ndarray, words: list[str]) -> list[str]:
    return ["" if empty else word for empty, word in zip(nothing, words, strict=True)]
