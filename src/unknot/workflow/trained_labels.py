"""Which labels a model was trained on, so that no error is ever shown on them.

The predictions for an item whose label was used for training say nothing about other items: with few labels the error
on these is often 0 % where that on new items is above 50 %. A model therefore keeps a digest of every item that showed
it a label, by factor, and whatever compares predictions with labels first hides the labels of these items.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset

if TYPE_CHECKING:
    from unknot.workflow.trained_model import TrainedModel

_CHUNK = 1000  # items that are in memory as numbers at once


def trained_labels(data: Dataset) -> dict[str, np.ndarray]:
    """Digests of the items whose label of a factor is known.

    Parameters
    ----------
    data : Dataset
        The training data, with the labels that training sees.

    Returns
    -------
    dict from str to ndarray of uint64
        For each factor the sorted digests.
    """
    digests = _digests(data)
    return {name: np.unique(digests[factor.known.cpu().numpy()]) for name, factor in data.factors.items()}


def merged(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The digests of two trainings of the same model."""
    none = np.zeros(0, np.uint64)
    return {name: np.union1d(one.get(name, none), other.get(name, none)) for name in {**one, **other}}


def held_out_labels(model: TrainedModel, data: Dataset) -> Dataset:
    """The data with the labels hidden that the model was trained on.

    An item counts as trained on if an item with the same numbers showed the model a label of the factor. Models that
    keep no digests hide nothing.
    """
    factors = {
        name: factor for name, factor in data.factors.items() if len(model.trained_labels.get(name, ()))
    }
    if not factors:
        return data
    digests = _digests(replace(data, factors=factors))
    hidden = {
        name: factor.hide(torch.from_numpy(~np.isin(digests, model.trained_labels[name])).to(data.device))
        for name, factor in factors.items()
    }
    return replace(data, factors={**data.factors, **hidden})


def without_labels(data: Dataset) -> Dataset:
    """The data with every label hidden."""
    nothing = torch.zeros(len(data), dtype=torch.bool, device=data.device)
    return replace(data, factors={name: factor.hide(nothing) for name, factor in data.factors.items()})


def why_no_error(model: TrainedModel, held_out: Dataset | None, *others: Dataset | None) -> str:
    """One sentence about the factors that have labels, but none that the model was not trained on.

    Factors with out-of-fold predictions have an error all the same.

    Parameters
    ----------
    model : TrainedModel
        The model, whose named factors are looked at.
    held_out : Dataset or None
        The data with labels that the model was not trained on.
    *others : Dataset or None
        The same data with all labels, the training data.

    Returns
    -------
    str
        Empty if there is no such factor.
    """
    names = [
        node.name
        for node in model.labeled
        if node.name not in model.out_of_fold
        and not _has_labels(node.name, [held_out])
        and _has_labels(node.name, others)
    ]
    if not names:
        return ""
    return (
        f"No error of {' and '.join(names)} is shown, because the only labels here are those that the model was "
        "trained on; give labeled items that it was not trained on."
    )


def to_json(digests: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Digests as text."""
    return {name: base64.b64encode(one.astype("<u8").tobytes()).decode() for name, one in digests.items()}


def from_json(content: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The digests that :func:`to_json` wrote."""
    return {name: np.frombuffer(base64.b64decode(text), "<u8") for name, text in content.items()}


def _has_labels(name: str, datasets: Iterable[Dataset | None]) -> bool:
    factors = [data.factors[name] for data in datasets if data is not None and name in data.factors]
    return any(bool(factor.known.any()) for factor in factors)


def _digests(data: Dataset) -> np.ndarray:
    """A digest of the numbers of each item, uint64 ``(N,)``; 0 for items without any label."""
    digests = np.zeros(len(data), np.uint64)
    rows = any_known(data, None).nonzero()[:, 0]
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        x = data.batch(part).x.to_dense().cpu().numpy().astype(np.float32).reshape(len(part), -1)
        x = np.where(np.isnan(x), np.float32("nan"), x + 0.0)  # one NaN and one zero, whatever their bits
        for row, numbers in zip(part.tolist(), np.ascontiguousarray(x, "<f4"), strict=True):
            digest = hashlib.blake2b(numbers.tobytes(), digest_size=8).digest()
            digests[row] = int.from_bytes(digest, "little")
    return digests
