"""The guard: weights stay those of before the bad step, however seldom one looks."""

from __future__ import annotations

import pytest
import torch

from unknot.train.divergence import Guard


@pytest.mark.parametrize("bad", ["loss", "gradient"])
def test_looking_seldom_still_finds_the_weights_before_the_bad_step(bad: str) -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.Adam([weight], lr=0.1, fused=True)
    guard = Guard(optimizer, torch.device("cpu"), world=1, every=10)
    history = []
    for step in range(10):
        history.append(weight.detach().clone())
        guard.before_step(step)
        torch.rand(1)
        weight.grad = torch.full((3,), float("inf") if step == 6 and bad == "gradient" else 1.0)
        loss = torch.tensor(float("nan") if step == 6 and bad == "loss" else 1.0)
        guard.judge(loss, weight.grad.norm())
        assert guard.due == (step == 9)
        optimizer.step()
    found = guard.look()
    assert found is not None
    step, states = found
    assert step == 6
    assert torch.equal(weight.detach(), history[6])
    assert torch.equal(states["cpu"], guard.states[6][1]["cpu"])


def test_good_steps_are_forgotten_after_a_look() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    guard = Guard(torch.optim.Adam([weight], fused=True), torch.device("cpu"), world=1, every=2)
    for step in range(4):
        guard.before_step(step)
        guard.judge(torch.ones(()), torch.ones(()))
        if guard.due:
            assert guard.look() is None
            assert guard.states == []
