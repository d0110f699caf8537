"""What is given beside the items in calls of an estimator: columns of AnnData or a frame, or arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw

from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.given import given_like, with_given
from unknot.data.label_column import read_factor
from unknot.data.readers.cells import UNLABELED, is_cells, obs_labels
from unknot.errors import SpecError
from unknot.estimator.frame import is_frame


def split_given(x: Any, given: Any) -> tuple[Any, dict[str, Any]]:
    """Return the items without what is given, and what is given by name.

    Parameters
    ----------
    x : array, frame, AnnData or list of str
        The items.
    given : str, sequence of str, mapping from name to array, or None
        Columns of ``obs`` of AnnData or of a frame, or values for each item.
    """
    if given is None:
        return x, {}
    if isinstance(given, Mapping):
        return x, dict(given)
    names = [given] if isinstance(given, str) else list(given)
    if is_cells(x):
        return x, {name: obs_labels(x, name, UNLABELED) for name in names}
    if not is_frame(x) or not all(isinstance(name, str) for name in names):
        raise SpecError(
            "given names columns of a frame or of AnnData's obs; beside other items give values, "
            f"given={{'donor': donors}}, but got {given!r}."
        )
    frame = nw.from_native(x, eager_only=True)
    for name in names:
        if name not in frame.columns:
            raise SpecError(f"given: x has no column '{name}'; it has {', '.join(map(str, frame.columns))}.")
    return frame.drop(names).to_native(), {name: frame[name].to_list() for name in names}


def read_given(items: Dataset, given: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Dataset:
    """Return training items with what is given."""
    factors = {name: read_factor(name, values, len(items), kinds.get(name)) for name, values in given.items()}
    both = replace(items, factors={**items.factors, **factors})
    return with_given(both, given)


def known_columns(x: Any, like: Dataset) -> Any:
    """Return of a frame or AnnData the columns that the model was given, as far as they are there."""
    if is_cells(x):
        return [name for name in like.given if name in x.obs.columns]
    return [name for name in like.given if name in x.columns] if is_frame(x) else None


def read_given_like(items: Dataset, given: Mapping[str, Any], like: Dataset) -> Dataset:
    """Return new items with what the model was given (:func:`unknot.data.given.given_like`)."""
    if not like.given:
        return items
    for name in given:
        if name not in like.given:
            raise SpecError(f"given: the model was not given '{name}', only {', '.join(like.given)}.")
    factors = {
        name: read_factor(name, values, len(items), like.given[name].kind) for name, values in given.items()
    }
    return given_like(replace(items, factors=factors), like)
