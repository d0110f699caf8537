"""Wanted: what is asked of a file, whatever its kind."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.user.splitting import Splits, no_splits


@dataclass(frozen=True)
class Wanted:
    """Which labels of a file are read and how, and how its items are.

    * ``factors``: the names of the labels; None leaves it to the kind of file;
    * ``kinds``, ``classes``: those of some factors, by name (:func:`unknot.data.from_arrays`);
    * ``columns``: the kinds of a table's columns, by name;
    * ``text``: how words are counted (:meth:`unknot.data.word_counter.WordCounter.learn`);
    * ``like``: a data set whose classes, columns and words the new one shares;
    * ``split``: from the number of items to its splits;
    * ``mapped``: whether items stay in a file until a batch needs them; None: if they are many.
    """

    factors: Sequence[str] | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    classes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    text: Mapping[str, Any] | None = None
    like: Dataset | None = None
    split: Splits = no_splits
    mapped: bool | None = None

    @property
    def named_factors(self) -> Sequence[str] | None:
        """Of a file in which a label looks like anything else: those that are named, or that the data like it has."""
        return self.factors or (None if self.like is not None else ())

    def kinds_of(self, labels: Container[str]) -> dict[str, Kind]:
        """The kinds of those labels that the file has."""
        return {name: kind for name, kind in self.kinds.items() if name in labels}

    def classes_of(self, labels: Container[str]) -> dict[str, Sequence[Any]]:
        """The classes of those labels that the file has."""
        return {name: classes for name, classes in self.classes.items() if name in labels}
