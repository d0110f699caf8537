"""Rules of a label budget: which rows have a label, from "100 in all" or "six per person"."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError


@dataclass(frozen=True)
class Per:
    """A number of labels for each class of another (or the same) factor."""

    by: str
    number: int

    def __str__(self) -> str:
        return f"{self.number} per {self.by}"


@dataclass(frozen=True)
class SameAs:
    """The same items as another factor of the budget."""

    factor: str

    def __str__(self) -> str:
        return f"same as {self.factor}"


def per(by: str, number: int) -> Per:
    """Return the rule for ``number`` labels per class of the factor ``by``: ``light=per("identity", 6)``."""
    return Per(by, number)


def same_as(factor: str) -> SameAs:
    """Return the rule for the same items as another ``factor``: ``light=same_as("identity")``."""
    return SameAs(factor)


Rule = int | Literal["all"] | Per | SameAs | Sequence[int] | Sequence[bool] | Tensor | np.ndarray


def describe(rule: Rule) -> str:
    """Return a rule in words, for the budget's file."""
    if isinstance(rule, (int, np.integer, str, Per, SameAs)):
        return str(rule)
    return f"{len(rule)} ids" if torch.as_tensor(rule).dtype != torch.bool else "a mask"


def rows_for(dataset: Dataset, factor: Factor, rule: Rule, seed: int) -> Tensor:
    """Return the rows whose label of ``factor`` may be used (``SameAs`` is resolved by the budget)."""
    factor.refuse_wrong_values()
    key = f"{seed} {factor.name}"
    if isinstance(rule, Per):
        group = dataset.factor(rule.by)
        return _rows_per_class(group, shuffled(dataset, factor.known & group.known, key), rule, factor.name)
    if isinstance(rule, (int, np.integer)) and not isinstance(rule, bool):
        rows = balanced(factor, shuffled(dataset, factor.known, key), int(rule))
        _refuse_imbalance(factor, rows)
        return rows
    return _rows_given(dataset, factor, rule)


def shuffled(dataset: Dataset, mask: Tensor, key: str) -> Tensor:
    """Return the rows of a mask in a random order that depends on the key and the ids, not on their order."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(number))
    rows = dataset.ids.cpu().argsort()[order]
    return rows[mask.cpu()[rows]]


def balanced(factor: Factor, order: Tensor, number: int) -> Tensor:
    """Return the first ``number`` rows of ``order``, balanced over the classes of a categorical or binary factor.

    Rows are taken from the classes in rotation, so that with n rows over K classes the first n % K classes have one
    more. A class without further rows is skipped.
    """
    if not 0 <= number <= len(order):
        raise DataError(f"budget of '{factor.name}': asked for {number} labels, {len(order)} are known.")
    if factor.kind not in ("categorical", "binary"):
        return order[:number]
    labels = factor.values.cpu()[order]
    turn = rank_in_class(labels) * factor.num_classes + labels
    return order[turn.argsort()[:number]]


def rank_in_class(labels: Tensor) -> Tensor:
    """Return for each entry the number of earlier entries with the same label.

    >>> rank_in_class(torch.tensor([5, 5, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    by_class = labels.argsort(stable=True)
    counts = labels[by_class].unique_consecutive(return_counts=True)[1]
    starts = (counts.cumsum(0) - counts).repeat_interleave(counts)
    rank = torch.empty_like(labels)
    rank[by_class] = torch.arange(len(labels)) - starts
    return rank


def rows_of_ids(dataset: Dataset, ids: Sequence[int], factor: str) -> Tensor:
    """Return the rows of the items with these ids."""
    chosen = torch.tensor(sorted(ids), dtype=torch.int64)
    sorted_ids, rows = dataset.ids.cpu().sort()
    missing = chosen[~torch.isin(chosen, sorted_ids)]
    if len(missing):
        raise DataError(f"budget of '{factor}': {dataset.name} has no item with id {int(missing[0])}.")
    return rows[torch.searchsorted(sorted_ids, chosen)]


def _rows_per_class(group: Factor, order: Tensor, rule: Per, factor: str) -> Tensor:
    if group.kind == "continuous":
        raise DataError(f"budget of '{factor}': per('{rule.by}', ...) needs classes, '{rule.by}' has none.")
    labels = group.values.cpu()[order]
    values, counts = labels.unique(return_counts=True)
    if len(counts) and int(counts.min()) < rule.number:
        few = int(counts.argmin())
        raise DataError(
            f"budget of '{factor}': asked for {rule.number} per '{rule.by}', but "
            f"{rule.by} {_class_name(group, int(values[few]))} has only {int(counts[few])} labeled items."
        )
    return order[rank_in_class(labels) < rule.number]


def _refuse_imbalance(factor: Factor, rows: Tensor) -> None:
    """Refuse a draw in which a class has too few labels for its equal share."""
    if factor.kind not in ("categorical", "binary") or not len(rows):
        return
    present = factor.values.cpu()[factor.known.cpu()].unique()
    counts = torch.bincount(factor.values.cpu()[rows], minlength=factor.num_classes)[present]
    if int(counts.max() - counts.min()) > 1:
        few = int(counts.argmin())
        name = _class_name(factor, int(present[few]))
        raise DataError(
            f"budget of '{factor.name}': {len(rows)} labels cannot be balanced, class {name} has only "
            f"{int(counts[few])}; ask for fewer, or give a mask."
        )


def _rows_given(dataset: Dataset, factor: Factor, rule: Rule) -> Tensor:
    """Return the rows of a bool mask, or of ids."""
    try:
        given = torch.as_tensor(rule).cpu()
    except (TypeError, ValueError, RuntimeError):
        given = torch.tensor(0.0)
    if given.dtype == torch.bool and given.shape == (len(dataset),):
        return given.nonzero()[:, 0]
    if given.dtype == torch.bool or given.is_floating_point() or given.ndim != 1:
        raise DataError(
            f"budget of '{factor.name}': expected a number, 'all', per(...), same_as(...), ids, or a bool "
            f"mask with {len(dataset)} entries; got {rule!r}."
        )
    return rows_of_ids(dataset, given.tolist(), factor.name)


def _class_name(factor: Factor, value: int) -> str:
    return f"'{factor.classes[value]}'" if factor.classes else str(value)
