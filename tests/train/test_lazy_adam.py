"""LazyAdam: torch's Adam for dense gradients, torch's SparseAdam for sparse ones, in one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from unknot.train.checkpoint import pack_optimizer, unpack_optimizer
from unknot.train.lazy_adam import LazyAdam, entries


def gradients() -> list[Tensor]:
    torch.manual_seed(1)
    return [torch.randn(5, 3) * (torch.arange(5)[:, None] % step == 0) for step in (1, 2, 3)]


def test_both_kinds_in_one_optimizer() -> None:
    torch.manual_seed(0)
    first, second = nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.randn(5, 3))
    others = [nn.Parameter(one.detach().clone()) for one in (first, second)]
    settings = {"lr": 0.1, "betas": (0.8, 0.9)}
    ours = LazyAdam([first, second], **settings, fused=True)  # type: ignore[arg-type]
    theirs = [
        torch.optim.Adam(others[:1], **settings),  # type: ignore[arg-type]
        torch.optim.SparseAdam(others[1:], **settings),  # type: ignore[arg-type]
    ]
    for one in gradients():
        first.grad = others[0].grad = one
        second.grad = others[1].grad = one.to_sparse(1)
        ours.step()
        for other in theirs:
            other.step()
    torch.testing.assert_close(first, others[0])
    torch.testing.assert_close(second, others[1])
    again = LazyAdam([first, second], **settings, fused=True)  # type: ignore[arg-type]
    unpack_optimizer(again, pack_optimizer(ours))  # one checkpoint for both
    for key, value in ours.state[second].items():
        assert torch.equal(again.state[second][key], value)


def test_rows_without_gradient_stay() -> None:
    weight = nn.Parameter(torch.ones(4, 2))
    optimizer = LazyAdam([weight], lr=0.1)
    for row in (1, 3):
        weight.grad = torch.eye(4)[:, [row, row]].to_sparse(1)
        optimizer.step()
    assert weight[[0, 2]].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert bool((weight[[1, 3]] < 1).all())


def test_weight_decay_is_about_all_rows() -> None:
    weight = nn.Parameter(torch.ones(4, 2))
    same = nn.Parameter(torch.ones(4, 2))
    for one, kind in ((weight, LazyAdam), (same, torch.optim.Adam)):
        optimizer = kind([one], lr=0.1, weight_decay=0.5)
        gradient = torch.eye(4)[:, :2]
        one.grad = gradient.to_sparse(1) if kind is LazyAdam else gradient
        optimizer.step()
    torch.testing.assert_close(weight, same)


def test_a_bad_step_changes_nothing() -> None:
    weight = nn.Parameter(torch.ones(4, 2))
    optimizer = LazyAdam([weight], lr=0.1)
    optimizer.found_inf = torch.ones(())  # type: ignore[attr-defined]
    weight.grad = torch.full((4, 2), torch.nan).to_sparse(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            torch.optim.Adam, "step", lambda *_: None
        )  # only fused Adam takes found_inf, on a device
        optimizer.step()
    assert weight.tolist() == torch.ones(4, 2).tolist()


def test_entries_are_added_up_first() -> None:
    twice = torch.sparse_coo_tensor([[1, 1]], torch.ones(2, 2), (4, 2), check_invariants=True)
    assert entries(twice).tolist() == [[2.0, 2.0]]
    assert entries(torch.ones(2)).tolist() == [1.0, 1.0]
