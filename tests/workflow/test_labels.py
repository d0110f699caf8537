"""Labels and nodes: which fit together, and what classes are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError, SpecError
from unknot.models.spec import NodeSpec, node, read_spec
from unknot.workflow.labels import (
    check_labels,
    class_names,
    label_kinds,
    own_classes,
    share_of_labels,
    with_described_classes,
)

X = np.zeros((6, 3), np.float32)


def labeled(family: str, size: int, labels: bool = True) -> list[NodeSpec]:
    return read_spec(
        [
            node("a", family, size, inferred_from=["x"], labels=labels),
            node("x", "normal", parents=["a"]),
        ]
    ).labeled


@pytest.mark.parametrize(
    ("family", "size", "labels", "error", "message"),
    [
        ("concrete", 3, [0, 1, 2, 0, 1, 2], None, ""),
        ("concrete", 5, ["u", "v", "w", "u", None, "u"], None, ""),
        ("concrete", 2, [0, 1, 2, 0, 1, 2], SpecError, "size 2, but its labels have 3 classes"),
        ("concrete", 2, [0, 0, 0, 0, -1, 0], DataError, "one class only"),
        ("categorical", 2, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], SpecError, "has classes"),
        ("normal", 1, [0, 1, 2, 0, 1, 2], SpecError, "has no classes"),
        ("normal", 1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], None, ""),
        ("normal", 2, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], SpecError, "size 2, but its labels have 1 numbers"),
        ("direction", 3, np.eye(3)[[0, 1, 2, 0, 1, 2]], None, ""),
        ("bernoulli", 1, [True, False, True, False, True, False], None, ""),
    ],
)
def test_which_labels_fit(family: str, size: int, labels: Any, error: Any, message: str) -> None:
    data = from_arrays(X, {"a": labels})
    if error is None:
        check_labels(labeled(family, size), data, ["a"])
    else:
        with pytest.raises(error, match=message):
            check_labels(labeled(family, size), data, ["a"])


def test_labels_nobody_takes_and_nodes_nobody_labels() -> None:
    data = from_arrays(X, {"a": np.arange(6)})
    with pytest.raises(SpecError, match="labels for 'a', but the model takes labels of no node"):
        check_labels(labeled("concrete", 6, labels=False), data, ["a"])
    check_labels(labeled("concrete", 6, labels=False), data, [])  # labels that may not be seen may lie there
    with pytest.raises(SpecError, match="node 'a' takes labels, but data has no such factor; it has none"):
        check_labels(labeled("concrete", 6), from_arrays(X), [])


def test_classes_have_names_and_numbers() -> None:
    factor = from_arrays(X, {"a": ["u", "v", "u", None, "v", "u"]}).factors["a"]
    assert class_names(factor, 4) == ("u", "v", "2", "3")
    assert own_classes(factor, 2) == ["u", "v"]
    number = from_arrays(X, {"a": np.linspace(0, 1, 6)}).factors["a"]
    assert own_classes(number, 1) == []
    assert own_classes(from_arrays(X, {"a": np.arange(6)}).factors["a"], 6) == [0, 1, 2, 3, 4, 5]
    assert own_classes(from_arrays(X, {"a": np.arange(6) > 2}).factors["a"], 2) == [False, True]


def test_kinds_and_shares() -> None:
    assert label_kinds(labeled("concrete", 3)) == {"a": "categorical"}
    assert label_kinds(labeled("direction", 3)) == {"a": "continuous"}
    assert label_kinds(labeled("concrete", 3, labels=False)) == {}
    assert share_of_labels(from_arrays(X, {"a": [0, -1, -1, -1, -1, -1]})) == pytest.approx(1 / 3)
    assert share_of_labels(from_arrays(X, {"a": [0, 1, 1, 1, -1, -1]})) is None
    assert share_of_labels(from_arrays(X)) is None


def test_a_described_node_says_how_many_classes_there_are() -> None:
    data = from_arrays(X, {"a": [0, 4, 2, -1, 4, 0]})
    widened = with_described_classes(data, labeled("concrete", 5)).factors["a"]
    assert widened.values.tolist() == [0, 4, 2, -1, 4, 0]
    assert widened.classes == ("0", "1", "2", "3", "4")
    words = from_arrays(X, {"a": list("uvwuvw")})
    assert with_described_classes(words, labeled("concrete", 5)).factors["a"].classes == ("u", "v", "w")
