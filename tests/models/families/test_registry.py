"""The registry of latent families: which one suits which labels."""

from __future__ import annotations

import pytest
import torch

from unknot.models import node
from unknot.models.families import FAMILIES, family, family_of, node_for_labels
from unknot.models.spec import read_spec


def test_names_are_the_families_own() -> None:
    for name, one in FAMILIES.items():
        size = 3  # every family has a node of this size
        assert one.name == name
        spec = node("z", name, size, inferred_from=["x"])
        assert family_of(spec) is one
        assert type(family(spec)) is one


@pytest.mark.parametrize("kind", ["categorical", "continuous", "count", "binary"])
def test_one_family_suits_each_kind_of_label(kind: str) -> None:
    suited = [one for one in FAMILIES.values() if kind in one.suits]
    assert len(suited) == 1
    assert kind in suited[0].label_kinds


@pytest.mark.parametrize(
    ("kind", "labels", "classes", "expected"),
    [
        ("categorical", [0, 1], 10, {"family": "concrete", "size": 10}),
        ("binary", [0, 0], 2, {"family": "concrete", "size": 2}),
        ("count", [0, 4], None, {"family": "concrete", "size": 5}),
        ("count", [], None, {"family": "concrete", "size": 0}),  # nothing known: refused by its size
        ("continuous", [2.0], None, {"family": "normal", "size": 1}),  # no units from one label
        (
            "continuous",
            [[1.0, 5.0], [3.0, 5.0]],  # the second never varies
            None,
            {"family": "normal", "size": 2, "prior": {"center": [2.0, 5.0], "spread": [1.0, 1.0]}},
        ),
    ],
)
def test_the_node_for_labels(kind: str, labels: list, classes: int | None, expected: dict) -> None:
    described = node_for_labels(kind, torch.tensor(labels), classes)
    assert described == expected
    if described["size"]:
        read_spec([node("y", inferred_from=["x"], **described), node("x", "normal", parents=["y"])])
