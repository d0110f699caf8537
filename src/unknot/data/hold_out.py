"""hold_out: items with some combinations of factors kept for testing on unseen combinations."""

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
    """Divide a data set into items to train on and items with given combinations of factors (E19 5.5).

    Parameters
    ----------
    dataset : Dataset
        Items with labels of all the factors in ``combinations``. Take a split first, ``dataset.split("train")``: the
        two results have no splits.
    *combinations : mapping from factor to condition
        Items that meet all conditions of any combination are held out. A condition is a class, by its name or number,
        a count, or a list of these; for a continuous factor a range ``(low, high)`` that includes its ends, where None
        is no limit.

    Returns
    -------
    seen, unseen : Dataset
        The items to train on, and those held out.

    Examples
    --------
    >>> train, unseen = hold_out(digits, {"digit": "7", "thickness": (4.0, None)})  # doctest: +SKIP
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
    """Return which items meet every condition, bool ``(N,)``."""
    if not combination:
        raise DataError("hold_out: a combination without a condition would hold out everything.")
    rows = torch.ones(len(dataset), dtype=torch.bool, device=dataset.device)
    for name, condition in combination.items():
        factor = dataset.factor(name)
        hidden = int((~factor.known).sum())
        if hidden:
            raise DataError(
                f"hold_out: {hidden} items of {dataset.name} have no label of '{name}', so they may have a combination "
                f"that is held out; use those that have one, dataset.labeled('{name}')."
            )
        rows &= _in_range(factor, condition) if factor.kind == "continuous" else _among(factor, condition)
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
