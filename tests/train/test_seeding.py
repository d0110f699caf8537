"""Random states go through JSON and back."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch

from unknot.errors import RunError
from unknot.train import seeding


def _draws() -> tuple[float, float, float, float]:
    return random.gauss(0, 1), float(np.random.standard_normal()), torch.rand(1).item(), torch.randn(1).item()  # noqa: NPY002


def test_restored_states_draw_the_same() -> None:
    with seeding.kept():
        seeding.seed_all(3)
        _draws()  # an odd number of normals: the cached second one must survive too
        tensors, scalars = seeding.capture()
        first = [_draws() for _ in range(5)]
        seeding.restore(tensors, json.loads(json.dumps(scalars)))
        assert [_draws() for _ in range(5)] == first


def test_kept_puts_everything_back() -> None:
    tensors, scalars = seeding.capture()
    with seeding.kept():
        seeding.seed_all(0)
        _draws()
    after, others = seeding.capture()
    assert scalars == others
    assert torch.equal(tensors["cpu"], after["cpu"])


def test_states_that_cannot_be_used_are_refused() -> None:
    tensors, scalars = seeding.capture()
    with pytest.raises(RunError, match="random states cannot be used"):
        seeding.restore(tensors, {**scalars, "numpy": ["MT19937", [1, 2]]})


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    orders = {
        tuple(torch.randperm(50, generator=seeding.epoch_generator(seed, epoch)).tolist())
        for seed in (0, 1, 2**32 - 1)
        for epoch in (0, 1)
    }
    assert len(orders) == 6
