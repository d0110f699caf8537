"""The same draws at every call, and nobody else's draws disturbed."""

from __future__ import annotations

import torch

from experiments.digits.fixed_traces import fixed_traces
from experiments.ledger.fit_defaults import fitted
from experiments.sprites.sprites import toy_sprites


def test_two_calls_draw_the_same_and_leave_the_generator_alone():
    data = toy_sprites(40)
    model = fitted(data, 0, {"steps": 1}, {"style": 2})
    x = data.batch(range(8)).x
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    first, second = fixed_traces(model, x)[0], fixed_traces(model, x)[0]
    assert torch.equal(before, torch.random.get_rng_state())
    for name in first:
        assert torch.equal(first[name].value, second[name].value)
