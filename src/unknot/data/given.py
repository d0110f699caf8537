"""What is given beside the items, as a batch, a donor or a dose, in the categories of the training data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import UNKNOWN, Factor
from unknot.errors import DataError, UnknotWarning

_LISTED = 5  # categories in a message


def with_given(data: Dataset, names: Iterable[str]) -> Dataset:
    """Return the data with some of the factors as what is given.

    Parameters
    ----------
    data : Dataset
        The data, with what is given among the factors.
    names : iterable of str
        The names of what is given.
    """
    names = list(names)
    for name in names:
        if name not in data.factors:
            raise DataError(
                f"{data.name}: '{name}' is given, but the data have no such values; they have "
                f"{', '.join(data.factors) or 'none'}."
            )
    given = {name: data.factors[name] for name in names}
    rest = {name: factor for name, factor in data.factors.items() if name not in given}
    return replace(data, factors=rest, given={**data.given, **given})


def given_like(data: Dataset, like: Dataset) -> Dataset:
    """Return new data with what the training data were given, in their categories.

    A category that the training data do not have, and values that are not there, are unknown: a model then conditions
    on the mean over the training items.

    Parameters
    ----------
    data : Dataset
        New data, with what is given among the factors, as far as they have it.
    like : Dataset
        The training data.
    """
    absent = [name for name in like.given if name not in data.factors]
    if absent:
        warnings.warn(
            f"{data.name}: there are no values of {', '.join(absent)}, which the model was given; the mean over the "
            "training items stands for them.",
            UnknotWarning,
            stacklevel=2,
        )
    rest = {name: factor for name, factor in data.factors.items() if name not in like.given}
    given = {
        name: _unknown(known, len(data))
        if name in absent
        else _in_categories(data, data.factors[name], known)
        for name, known in like.given.items()
    }
    return replace(data, factors=rest, given=given)


def _unknown(like: Factor, count: int) -> Factor:
    mark = torch.nan if like.kind == "continuous" else UNKNOWN
    return replace(like, values=like.values.new_full((count, *like.values.shape[1:]), mark))


def _in_categories(data: Dataset, factor: Factor, like: Factor) -> Factor:
    """Return values in the categories of training; others are unknown, with a warning."""
    if factor.kind != like.kind or factor.values.shape[1:] != like.values.shape[1:]:
        raise DataError(
            f"{data.name}: '{like.name}' is {factor.kind}, but the model was given {like.kind} values."
        )
    if like.classes is None or factor.classes is None:
        return factor
    place = {category: i for i, category in enumerate(like.classes)}
    codes = torch.tensor([*(place.get(category, UNKNOWN) for category in factor.classes), UNKNOWN])
    values = codes[factor.values]  # -1 is the last
    unseen = [category for category in factor.classes if category not in place]
    if unseen:
        count = int((factor.known & (values == UNKNOWN)).sum())
        listed = ", ".join(unseen[:_LISTED]) + (", ..." if len(unseen) > _LISTED else "")
        warnings.warn(
            f"{data.name}: {count} items have a '{like.name}' that the training data do not have ({listed}); the mean "
            "over the training items stands for it.",
            UnknotWarning,
            stacklevel=3,
        )
    return replace(like, values=values)
