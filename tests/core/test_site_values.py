"""The ways to a site's value: what fits a distribution, and what is refused."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.errors import TraceError


def test_only_variables_can_be_reused() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.log_term(torch.zeros(2), name="f")
    with pytest.raises(TraceError, match="takes a random variable's node, not a LogTerm"):
        p.normal(0.0, 1.0, value=q["f"], name="f")


def test_observing_one_value_for_all_items() -> None:
    p = unknot.Trace()
    logits = torch.randn(4, 3)
    p.one_hot_categorical(logits=logits, value=torch.tensor([0.0, 1.0, 0.0]), name="y")
    torch.testing.assert_close(p["y"].log_prob, logits.log_softmax(-1)[:, 1])
    p.normal(torch.zeros(4), 1.0, value=torch.tensor(0.5), name="x")
    assert p["x"].log_prob.shape == (4,)


def test_shapes_that_do_not_fit() -> None:
    p = unknot.Trace()
    with pytest.raises(TraceError, match=r"value has shape \(4, 3\).*Normal have shape \(4, 2\)"):
        p.normal(torch.zeros(4, 2), 1.0, value=torch.zeros(4, 3), name="x")
    with pytest.raises(TraceError, match=r"one item is \(1,\).*Normal have shape \(4, 3\)"):
        p.normal(torch.zeros(4, 3), 1.0, value=torch.zeros(4, 1), name="x")
    with pytest.raises(TraceError, match="has 3 classes"):
        p.concrete(torch.zeros(4, 3), 0.5, value=torch.zeros(4, 2), name="y")
    with pytest.raises(TraceError, match="one value of Dirichlet has 1 axes"):
        p.dirichlet(torch.ones(3), value=torch.tensor(0.3), name="d")


def test_event_dims_settle_what_shapes_leave_open() -> None:
    q = unknot.Trace()
    assert q.normal(torch.zeros(4, 2), 1.0, name="a", event_dims=0).shape == (4, 2)
    assert q["a"].log_prob.shape == (4, 2)
    r = unknot.Trace(samples=3)
    r.normal(torch.zeros(3, 1), 1.0, name="z")
    with pytest.raises(TraceError, match=r"parameters of shape \(3, 3\) could be"):
        r.normal(torch.zeros(3, 3), 1.0, name="v")
    assert r.normal(torch.zeros(3, 3), 1.0, name="v", event_dims=1).shape == (3, 3, 3)
    for wrong in (3, 0):
        with pytest.raises(TraceError, match=f"event_dims={wrong} does not fit parameters of Dirichlet"):
            r.dirichlet(torch.ones(3, 2), name="d", event_dims=wrong)
