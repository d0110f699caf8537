"""Labels and the nodes they belong to: whether they fit, and the names of a node's classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor, Kind
from unknot.errors import DataError, SpecError
from unknot.models.spec import ModelSpec, NodeSpec

LABELLED_SHARE = 1 / 3
CLASS_FAMILIES = ("concrete", "categorical")


def check_labels(spec: ModelSpec, data: Dataset, names: Iterable[str]) -> None:
    """Refuse labels (of the factors ``names``) that the model does not take, and nodes that lack theirs."""
    labelled = [n.name for n in spec.labelled]
    for name in names:
        if name not in labelled:
            takes = f"of {', '.join(labelled)}" if labelled else "of no node"
            raise SpecError(
                f"there are labels for '{name}', but the model takes labels {takes}; say labels: true at the "
                "node they belong to, or leave them out."
            )
    for node in spec.labelled:
        if node.name not in data.factors:
            there = ", ".join(data.factors) or "none"
            raise SpecError(
                f"node '{node.name}' takes labels, but {data.name} has no such factor; it has {there}."
            )
        _check_factor(node, data.factors[node.name])


def _check_factor(node: NodeSpec, factor: Factor) -> None:
    kinds = f"its labels are {factor.kind}"
    if node.family in CLASS_FAMILIES:
        if factor.kind == "continuous":
            raise SpecError(f"node '{node.name}' has classes ({node.family}), but {kinds}.")
        count = int(factor.values.max()) + 1 if factor.kind == "count" else factor.num_classes
        if factor.kind == "categorical" and count < 2:
            raise DataError(f"factor '{factor.name}' has one class only: there is nothing to tell apart.")
        if count > (node.size or 0):
            raise SpecError(f"node '{node.name}' has size {node.size}, but its labels have {count} classes.")
        return
    if factor.kind == "categorical":
        raise SpecError(f"node '{node.name}' has no classes ({node.family}), but {kinds}; use concrete.")
    size = 1 if factor.values.ndim == 1 else factor.values.shape[1]
    if size != node.size:
        raise SpecError(f"node '{node.name}' has size {node.size}, but its labels have {size} numbers.")


def label_kinds(spec: ModelSpec) -> dict[str, Kind]:
    """What kind of labels each labelled node takes, where its family says so."""
    kinds: dict[str, Kind] = {}
    for node in spec.labelled:
        if node.family in CLASS_FAMILIES:
            kinds[node.name] = "categorical"
        elif node.family in ("normal", "direction"):
            kinds[node.name] = "continuous"
    return kinds


def share_of_labels(train: Dataset) -> float | None:
    """The share of labelled items in a batch: a third where labels are scarcer than that, else as they come."""
    share = float(any_known(train, None).float().mean()) if train.factors else 0.0
    return LABELLED_SHARE if 0.0 < share < LABELLED_SHARE else None


def class_code(factor: Factor, value: Any) -> Any:
    """A class by its name (as on a command line) as its index; numbers of a continuous factor as they are."""
    if factor.classes is None:
        return value
    if str(value) not in factor.classes:
        raise DataError(f"'{factor.name}' has no class {value}; it has {', '.join(factor.classes)}.")
    return factor.classes.index(str(value))


def class_names(factor: Factor, count: int) -> tuple[str, ...]:
    """The names of a node's ``count`` classes: the factor's own, and numbers for classes it has no name for."""
    own = factor.classes or ()
    return (*own[:count], *(str(i) for i in range(len(own), count)))
