"""One look at a sum."""

import pytest
import torch

from unknot.core.finite import all_finite, seen_finite


def test_sees_what_is_not_finite() -> None:
    assert seen_finite(torch.zeros(0))
    assert seen_finite(torch.tensor([1e30, -3.0]))
    for bad in (torch.nan, torch.inf, -torch.inf):
        assert not seen_finite(torch.tensor([1.0, bad, 2.0]))
    assert not seen_finite(torch.tensor([torch.inf, -torch.inf]))


def test_takes_no_look_while_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not seen_finite(torch.zeros(3))


def test_several_tensors_at_once() -> None:
    assert all_finite([])
    assert all_finite([torch.zeros(3), torch.ones(2, 2, dtype=torch.float64), torch.tensor(4)])
    for bad in (torch.nan, torch.inf, -torch.inf):
        assert not all_finite([torch.zeros(3), torch.tensor([[0.0, bad]])])
    assert not all_finite([torch.tensor([torch.inf]), torch.tensor([-torch.inf])])
