"""Labels in calls of an estimator's methods: by name or by position, words or numbers, known or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.label_column import label_array
from unknot.data.label_evidence import Votes
from unknot.data.readers.cells import is_cells, labels_by_name
from unknot.errors import DataError, SpecError


def with_y(y: Any, labels: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the labels by name; a positional y belongs to the only factor, or to one called "label"."""
    if y is None:
        return dict(labels)
    name = names[0] if len(names) == 1 else "label"
    if name in labels:
        raise SpecError(f"the labels of '{name}' were given twice, by position and by name.")
    return {name: y, **labels}


def named_labels(x: Any, labels: Mapping[str, Any], reading: Dataset | Sequence[str]) -> dict[str, Any]:
    """Return the labels of a call; of AnnData ``label="cell_type"`` is a column of ``obs``.

    Parameters
    ----------
    x : array, frame, AnnData or list of str
        The items.
    labels : mapping
        The keyword arguments of the call.
    reading : Dataset or sequence of str
        The labels that stand for an unknown one, or the training data, which knows them.
    """
    if not is_cells(x):
        return dict(labels)
    unlabeled = reading.unlabeled if isinstance(reading, CellDataset) else reading
    return labels_by_name(x, labels, () if isinstance(unlabeled, Dataset) else unlabeled)


def has_words(labels: Any) -> bool:
    """Return whether some labels are words."""
    if isinstance(labels, Tensor):
        return False
    if isinstance(labels, Votes):
        return any(has_words(reported) for reported in labels.reported.values())
    return any(isinstance(label, str) for label in _flat(labels))


def _flat(labels: Any) -> Iterator[Any]:
    """Yield labels, and the classes that make up labels such as lists and weights."""
    if isinstance(labels, str) or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) == 0:
        yield labels
        return
    for label in labels:
        yield from _flat(label)


def known_labels(name: str, truth: Any, guess: np.ndarray, continuous: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return which items have a label (not missing or, for classes, -1), and these labels, to compare with a guess."""
    values, absent = label_array(name, truth)
    if not continuous and values.dtype.kind != "U":
        absent = absent | (values == -1)
    values, absent = np.atleast_1d(values), np.atleast_1d(absent)
    known = np.asarray(~absent.reshape(len(absent), -1).any(1))
    if len(known) != len(guess) or not known.any():
        raise DataError(f"score(): expected labels of '{name}' for {len(guess)} items, some of them known.")
    came, was = ("words" if array.dtype.kind == "U" else "numbers" for array in (values, guess))
    if came != was:
        raise DataError(f"score(): the labels of '{name}' are {came}, but the model was fitted on {was}.")
    return known, values[known]
