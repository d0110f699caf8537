"""Modules by nodes' names, whatever these are."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from unknot.models import GraphicalModel, node
from unknot.models.by_node import ByNode

STRANGE = [
    "type",
    "children",
    "train",
    "items",
    "Sepal.Length",
    "Wine Kind",
    "Weight [kg]",
    "$50K_$",
    "=cmd|x",
    "ü",
    "_keys",
    "x" * 10_000,
]


def test_usual_names_stay_as_they_are() -> None:
    made = ByNode({"digit": nn.Linear(1, 1)})
    assert list(made.state_dict()) == ["digit.weight", "digit.bias"]


@given(st.lists(st.text(min_size=1), unique=True, max_size=6))
def test_any_names(names: list[str]) -> None:
    modules = {name: nn.Linear(1, 1) for name in [*names, *STRANGE, "node a", "node b.c"]}
    made = ByNode(modules)
    assert list(made) == list(modules)
    assert len(made) == len(modules)
    assert all(made[name] is module and name in made for name, module in modules.items())
    assert len(made.state_dict()) == 2 * len(modules)
    with pytest.raises(KeyError):
        made["absent" * 20]


@pytest.mark.parametrize("name", STRANGE)
def test_a_model_with_such_a_node(name: str) -> None:
    nodes = [
        node(name, "concrete", 3, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x", name]),
        node("x", "bernoulli", parents=[name, "style"]),
    ]
    model = GraphicalModel(nodes, (4,))
    q = model.encode(torch.rand(2, 4), {name: torch.tensor([1, -1])})
    assert torch.isfinite(model.decode(torch.rand(2, 4), q).log_prob()).all()
    model.load_state_dict(model.state_dict())
