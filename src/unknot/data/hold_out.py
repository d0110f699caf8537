"""hold_out: items with some combinations of factors kept back, so that a model can be tried on what it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError
from unknot.suggest import did_you_mean

Combination = Mapping[str, Any]  # factor -> its values, or of a continuous one its range


def hold_out(dataset: Dataset, *combinations: Combination) -> tuple[Dataset, Dataset]:
    """Two data sets, the items to train on and those held out: all that have any of the ``combinations`` (E19 5.5).

        train, unseen = unknot.data.hold_out(digits, {"digit": "7", "thickness": (4.0, None)}, {"digit": [0, 6]})

    Arguments:

    * ``dataset``: items with factors; take a split first, ``dataset.split("train")``, since the two have none;
    * ``combinations``: each a table of conditions that an item must all meet to be held out. A class is said by its
      name or its number, a count by its value, several of them as a list; a continuous factor by a range
      ``(low, high)``, both ends within it, None for no limit.

    Every item must show the factors that are named: one that does not could be of a combination held out.
    """
    if not combinations:
        raise DataError("hold_out: say which combinations of factors are held out, as {'digit': '7'}.")
    held = torch.zeros(len(dataset), dtype=torch.bool, device=dataset.device)
    for combination in combinations:
        held |= _rows(dataset, combination)
    count = int(held.sum())
    if count in (0, len(dataset)):
        what = "no item" if count == 0 else "every item"
        raise DataError(
            f"hold_out: {what} of {dataset.name} has a combination held out; choose others, for one part is empty."
        )
    seen, unseen = dataset.subset(~held), dataset.subset(held)
    return replace(seen, name=f"{dataset.name}/seen"), replace(unseen, name=f"{dataset.name}/unseen")


def _rows(dataset: Dataset, combination: Combination) -> Tensor:
    """Bool (N,): the items that meet every condition."""
    if not combination:
        raise DataError("hold_out: a combination without a condition would hold out everything.")
    rows = torch.ones(len(dataset), dtype=torch.bool, device=dataset.device)
    for name, wanted in combination.items():
        factor = dataset.factor(name)
        hidden = int((~factor.known).sum())
        if hidden:
            raise DataError(
                f"hold_out: {hidden} items of {dataset.name} do not show '{name}', so they may be of a combination "
                f"that is held out; take those that do first, dataset.labeled('{name}')."
            )
        rows &= _in_range(factor, wanted) if factor.kind == "continuous" else _among(factor, wanted)
    return rows


def _in_range(factor: Factor, wanted: Any) -> Tensor:
    if factor.values.ndim != 1:
        raise DataError(f"hold_out: '{factor.name}' has several numbers an item; a range is of one number.")
    if not isinstance(wanted, Sequence) or isinstance(wanted, str) or len(wanted) != 2:
        raise DataError(
            f"hold_out: '{factor.name}' is continuous and takes a range, (low, high) with None for no limit, "
            f"got {wanted!r}."
        )
    low, high = (factor.values.new_tensor(limit) if limit is not None else None for limit in wanted)
    inside = torch.ones_like(factor.values, dtype=torch.bool)
    if low is not None:
        inside &= factor.values >= low
    if high is not None:
        inside &= factor.values <= high
    return inside


def _among(factor: Factor, wanted: Any) -> Tensor:
    several = wanted if isinstance(wanted, Sequence) and not isinstance(wanted, str) else [wanted]
    values = [_value(factor, one) for one in several]
    return torch.isin(factor.values, factor.values.new_tensor(values))


def _value(factor: Factor, given: Any) -> int:
    """The number that stands for a class in the factor's values."""
    if isinstance(given, str):
        names = factor.classes or ()
        if given not in names:
            raise DataError(f"hold_out: '{factor.name}' has no class {given!r}; {did_you_mean(given, names)}")
        return names.index(given)
    largest = factor.num_classes if factor.kind != "count" else None
    if not isinstance(given, int) or given < 0 or (largest is not None and given >= largest):
        raise DataError(f"hold_out: '{factor.name}' takes {factor.expected()}; got {given!r}.")
    return int(given)
