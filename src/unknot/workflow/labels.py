"""Labels and their nodes: whether they fit together, and the names of a node's classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor, Kind
from unknot.data.label_column import class_values
from unknot.errors import DataError, SpecError
from unknot.models.families import family_of
from unknot.models.spec import NodeSpec

LABELED_SHARE = 1 / 3


def has_classes(node: NodeSpec) -> bool:
    """Whether a node is one of several classes."""
    return family_of(node).has_classes


def check_labels(labeled: Sequence[NodeSpec], data: Dataset, names: Iterable[str]) -> None:
    """Refuse labels (of the factors ``names``) that no node takes, and nodes that lack theirs."""
    takers = [node.name for node in labeled]
    for name in names:
        if name not in takers:
            takes = f"of {', '.join(takers)}" if takers else "of no node"
            raise SpecError(
                f"there are labels for '{name}', but the model takes labels {takes}; say labels: true at the "
                "node they belong to, or leave them out."
            )
    for node in labeled:
        if node.name not in data.factors:
            there = ", ".join(data.factors) or "none"
            raise SpecError(
                f"node '{node.name}' takes labels, but {data.name} has no such factor; it has {there}."
            )
        _check_factor(node, data.factors[node.name])


def _check_factor(node: NodeSpec, factor: Factor) -> None:
    family, kinds = family_of(node), f"its labels are {factor.kind}"
    if family.has_classes:
        if factor.kind == "continuous":
            raise SpecError(f"node '{node.name}' has classes ({node.family}), but {kinds}.")
        count = class_count(factor)
        if factor.kind == "categorical" and count < 2:
            raise DataError(f"factor '{factor.name}' has one class only: there is nothing to tell apart.")
        if count > family.class_count(node.size or 0):
            raise SpecError(f"node '{node.name}' has size {node.size}, but its labels have {count} classes.")
        return
    if factor.kind not in family.label_kinds:
        raise SpecError(f"node '{node.name}' has no classes ({node.family}), but {kinds}; use concrete.")
    size = 1 if factor.values.ndim == 1 else factor.values.shape[1]
    if size != node.size:
        raise SpecError(f"node '{node.name}' has size {node.size}, but its labels have {size} numbers.")


def with_described_classes(data: Dataset, labeled: Sequence[NodeSpec]) -> Dataset:
    """The data with its labels as the classes 0 to K - 1 of the nodes that have K classes.

    Without a description the classes are the values that occur; a node of size 10 says that there are ten, whether
    or not each of them has a label.
    """
    factors = dict(data.factors)
    for node in labeled:
        if node.name in factors and has_classes(node):
            factors[node.name] = _with_classes(factors[node.name], node.size or 0)
    return replace(data, factors=factors)


def _with_classes(factor: Factor, count: int) -> Factor:
    own = factor.classes or ()
    if len(own) >= count or not all(_is_whole(name) and int(name) < count for name in own):
        return factor
    index = torch.tensor([int(name) for name in own])
    values = torch.where(factor.known, index[factor.values.clamp(min=0)], factor.values)
    votes, evidence = factor.votes, factor.evidence
    if votes is not None:
        votes = torch.where(votes >= 0, index[votes.clamp(min=0)], votes)
    if (
        evidence is not None
    ):  # a class without a name in the labels is possible for items without a label alone
        unknown = torch.where(factor.observed, -torch.inf, 0.0)[:, None]
        evidence = unknown.expand(-1, count).index_copy(1, index, evidence)
    classes = tuple(str(k) for k in range(count))
    return replace(factor, values=values, classes=classes, votes=votes, evidence=evidence, tree=None)


def class_count(factor: Factor) -> int:
    """How many classes labels tell apart; counts are classes from 0 to the largest."""
    return int(factor.values.max()) + 1 if factor.kind == "count" else factor.num_classes


def raters_of(factor: Factor) -> int | None:
    """How many raters vote on a factor, None if there are no votes."""
    return None if factor.votes is None else len(factor.raters)


def label_kinds(labeled: Sequence[NodeSpec]) -> dict[str, Kind]:
    """What kind of labels each labeled node takes, where its family says so."""
    kinds = {node.name: family_of(node).label_kind for node in labeled}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def share_of_labels(train: Dataset) -> float | None:
    """The share of labeled items in a batch: a third where labels are scarcer than that, else as they come."""
    share = float(any_known(train, None).float().mean()) if train.factors else 0.0
    return LABELED_SHARE if 0.0 < share < LABELED_SHARE else None


def class_names(factor: Factor, count: int) -> tuple[str, ...]:
    """The names of a node's ``count`` classes: the factor's own, and numbers for classes it has no name for."""
    own = factor.classes or ()
    return (*own[:count], *(str(i) for i in range(len(own), count)))


def own_classes(factor: Factor, count: int) -> list[Any]:
    """The classes of a factor as values: words, whole numbers, or False and True.

    >>> import torch
    >>> own_classes(Factor("digit", "categorical", torch.tensor([0, 1]), ("3", "8")), 2)
    [3, 8]
    """
    if factor.kind == "continuous":
        return []
    if factor.kind == "binary":
        return [False, True]
    return class_values(class_names(factor, count))


def _is_whole(name: str) -> bool:
    return name.isdecimal() and str(int(name)) == name
