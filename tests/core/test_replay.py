"""Replay: sites observe another trace's values by name; what the program is given stays."""

from __future__ import annotations

import torch

import unknot
from unknot.core.replay import replay, replayed


def made() -> unknot.Trace:
    p = unknot.Trace()
    p.categorical(logits=torch.zeros(3), value=torch.tensor([2, 0]), name="y")
    with p.scope("thing", 0):
        p.normal(torch.zeros(2, 3), 1.0, value=torch.arange(6.0).reshape(2, 3), name="z")
    return p


def test_sites_are_observed_at_the_other_traces_values() -> None:
    logits = torch.randn(2, 3, requires_grad=True)
    q = unknot.Trace()
    with replay(made()):
        y = q.categorical(logits=logits, name="y", gradient="enumerate")
        with q.scope("thing", 0):
            z = q.normal(torch.zeros(2, 3), 2.0, name="z")
    assert y.tolist() == [2, 0]
    assert torch.equal(z, torch.arange(6.0).reshape(2, 3))
    expected = logits.log_softmax(-1)[[0, 1], [2, 0]]
    torch.testing.assert_close(q["y"].log_prob, expected)
    assert q["y"].known is True
    assert not q["y"].enumerated


def test_other_sites_are_drawn_and_given_values_stay() -> None:
    q = unknot.Trace()
    with replay(made()):
        q.normal(torch.zeros(2, 3), 1.0, name="w")
        y = q.categorical(logits=torch.zeros(2, 3), value=torch.tensor([1, 1]), name="y")
    assert q["w"].known is False
    assert y.tolist() == [1, 1]


def test_values_carry_no_gradient_and_the_switch_ends_with_the_block() -> None:
    scale = torch.ones(4, requires_grad=True)
    p = unknot.Trace()
    p.normal(torch.zeros(4), scale, name="z")
    with replay(p):
        value = replayed("z")
        assert value is not None
        assert not value.requires_grad
        with replay(made()):
            assert replayed("z") is None
        assert replayed("z") is not None
    assert replayed("z") is None
