"""The search for the best values: exact where the answer is known, item by item, and never a step back."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from experiments.digits.search import search

GOAL = {"a": torch.tensor([[1.0, -2.0], [0.5, 0.0], [3.0, 3.0]]), "b": torch.tensor([[0.3], [-0.7], [0.0]])}


def near(values: Mapping[str, Tensor]) -> Tensor:
    """Highest at the goal, and steeper along some numbers than along others."""
    a, b = values["a"] - GOAL["a"], values["b"] - GOAL["b"]
    return -(a * torch.tensor([1.0, 5.0])).square().sum(-1) - 30 * b.square().sum(-1)


def start() -> dict[str, Tensor]:
    return {name: torch.zeros_like(goal) for name, goal in GOAL.items()}


def test_it_finds_the_best_values() -> None:
    found = search(start(), near, 300)
    for name, goal in GOAL.items():
        torch.testing.assert_close(found[name], goal, atol=0.02, rtol=0)


def test_it_is_adam_of_pytorch() -> None:
    leaves = {name: value.requires_grad_() for name, value in start().items()}
    adam = torch.optim.Adam(leaves.values(), lr=0.1)
    for _ in range(7):
        adam.zero_grad()
        (-near(leaves).sum()).backward()
        adam.step()
    found = search(start(), near, 7)
    for name in GOAL:
        torch.testing.assert_close(found[name], leaves[name].detach(), atol=1e-5, rtol=1e-5)


def test_no_item_ends_below_its_start() -> None:
    found = search(GOAL, near, 3)  # Adam's first steps lead away from where the slope is all but nothing
    wild = search(start(), lambda v: (50 * v["a"]).sin().sum(-1) + 0 * v["b"].sum(-1), 9)
    for name, goal in GOAL.items():
        torch.testing.assert_close(found[name], goal)
    assert bool(((50 * wild["a"]).sin().sum(-1) >= 0).all())


def test_items_do_not_see_each_other() -> None:
    together = search(start(), near, 5)
    for item in range(3):
        own = {name: goal[item : item + 1] for name, goal in GOAL.items()}

        def alone(values: Mapping[str, Tensor], own: Mapping[str, Tensor] = own) -> Tensor:
            a, b = values["a"] - own["a"], values["b"] - own["b"]
            return -(a * torch.tensor([1.0, 5.0])).square().sum(-1) - 30 * b.square().sum(-1)

        found = search({name: torch.zeros_like(value) for name, value in own.items()}, alone, 5)
        for name in GOAL:
            torch.testing.assert_close(found[name], together[name][item : item + 1])


def test_it_searches_without_gradients_around_it_and_leaves_none_behind() -> None:
    scale = torch.tensor(2.0, requires_grad=True)
    first = start()
    with torch.no_grad():
        found = search(first, lambda v: scale * near(v), 5)
    assert scale.grad is None
    assert not any(value.requires_grad for value in [*first.values(), *found.values()])
    assert not torch.equal(found["a"], first["a"])
