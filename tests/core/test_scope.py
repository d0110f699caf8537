"""Composition: prefixes, masks, sub-models, loops of random length, recursion."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor, nn

import unknot
from unknot.core.expectation import expect
from unknot.errors import TraceError


def test_scopes_prefix_names() -> None:
    q = unknot.Trace()
    for k in range(2):
        with q.scope("digit", k):
            q.normal(torch.zeros(3, 2), 1.0, name="style")
            with q.scope("pen"):
                q.normal(torch.zeros(3, 1), 1.0, name="width")
    with q.scope("grid", 1, 2):
        q.normal(torch.zeros(3, 2), 1.0, name="cell")
    assert list(q) == [
        "digit[0].style", "digit[0].pen.width", "digit[1].style", "digit[1].pen.width", "grid[1][2].cell",
    ]  # fmt: skip


def test_a_scope_ends_even_after_an_error() -> None:
    q = unknot.Trace()
    with pytest.raises(KeyError), q.scope("a"), q.where(torch.tensor([True])):
        raise KeyError
    q.normal(torch.zeros(1), 1.0, name="z")
    assert list(q) == ["z"]
    assert q["z"].active is None


def test_a_scope_starts_with_a_name() -> None:
    with pytest.raises(TraceError, match="not with the index 3"), unknot.Trace().scope(3):
        pass


def test_nested_masks_give_exact_zeros_and_no_gradient() -> None:
    outer, inner = torch.tensor([True, True, False]), torch.tensor([True, False, True])
    loc = torch.zeros(3, 2, requires_grad=True)
    target = torch.ones(3, 2)
    p = unknot.Trace()
    with p.where(outer):
        p.normal(loc, 1.0, value=target, name="x")
        with p.where(inner):
            p.normal(loc, 1.0, value=target, name="v")
            p.loss(lambda a, b: (a - b) ** 2, loc, target, name="l")
            p.log_term(loc.sum(-1), name="f")
    assert (p["x"].log_prob != 0).tolist() == [True, True, False]
    for name in ("v", "l"):
        assert (p[name].log_prob != 0).tolist() == [True, False, False]
    (slope,) = torch.autograd.grad(p.log_prob("v", "l", "f").sum(), loc)
    assert (slope != 0).any(-1).tolist() == [True, False, False]


def test_draws_switched_off_leave_no_trace_in_the_objective() -> None:
    logits = torch.zeros(2, 3, requires_grad=True)
    q = unknot.Trace(samples=4)
    with q.where(torch.tensor([True, False])):
        y = q.categorical(logits=logits, name="y", gradient="score_function")
    (slope,) = torch.autograd.grad(expect(q, y.float() + q.log_prob()).sum(), logits)
    assert bool((slope[0] != 0).any())
    assert slope[1].tolist() == [0.0, 0.0, 0.0]


def test_masks_are_boolean_and_per_item() -> None:
    q = unknot.Trace()
    with (
        pytest.raises(TraceError, match=r"mask of booleans, a tensor, but got torch\.float32"),
        q.where(torch.ones(3)),
    ):
        pass
    q.normal(torch.zeros(3, 2), 1.0, name="z")
    for wrong in (torch.ones(3, 1, dtype=torch.bool), torch.ones(4, dtype=torch.bool)):
        said = re.escape(f"mask of where() of shape {tuple(wrong.shape)}")
        with pytest.raises(TraceError, match=said), q.where(wrong):
            pass
    with pytest.raises(TraceError, match="mask of booleans, a tensor, but got list"), q.where([True] * 3):  # type: ignore[arg-type]
        pass


def test_a_mask_of_other_items_than_the_first_sites_is_refused() -> None:
    q, mask = unknot.Trace(), torch.tensor([True, False, True])
    with (
        pytest.raises(TraceError, match=r"shape \(3,\), but the leading axes of a site inside are \(4,\)"),
        q.where(mask),
    ):
        q.normal(torch.zeros(4), 1.0, name="z")


@pytest.mark.parametrize("samples", [None, 2])
def test_a_mask_may_be_the_first_to_tell_the_number_of_items(samples: int | None) -> None:
    """Sites before it come from constants, so that their batch axis has size one."""
    q, mask = unknot.Trace(samples), torch.tensor([True, False, True])
    shared = q.normal(0.0, 1.0, name="shared")
    with q.where(mask):
        z = q.normal(torch.zeros(3, 2), 1.0, name="z", event_dims=1)
    assert shared.shape[-1:] == (() if samples is None else (1,))
    assert z.shape[-2:] == (3, 2)
    assert bool((q["z"].log_prob == 0).eq(~mask).all())


def sub_model(x: Tensor) -> unknot.Trace:
    q = unknot.Trace()
    y = q.concrete(x, 0.5, name="y")
    q.normal(y, 1.0, name="z")
    return q


def test_include_and_under_are_inverse() -> None:
    q = unknot.Trace()
    active = torch.tensor([True, False, True])
    with q.scope("scene"), q.where(active):
        inner = q.include(sub_model(torch.randn(3, 4)), "digit", 1)
    assert list(q) == ["scene.digit[1].y", "scene.digit[1].z"]
    back = q.under("scene", "digit", 1)
    assert list(back) == list(inner) == ["y", "z"]
    assert back["y"].value is inner["y"].value
    assert back["y"].unbounded is inner["y"].unbounded
    assert back["y"].log_prob[1] == 0
    torch.testing.assert_close(back.log_prob()[active], inner.log_prob()[active])
    assert list(q.under("digit")) == []
    p = unknot.Trace()
    p.concrete(torch.zeros(4), 0.5, value=back["y"], name="y")  # a node below a prefix reuses as any other
    assert p["y"].value is inner["y"].value


def test_include_refuses_a_repeated_name() -> None:
    q = unknot.Trace()
    q.include(sub_model(torch.randn(3, 4)), "digit")
    with pytest.raises(TraceError, match=r"site 'digit\.y' exists already"):
        q.include(sub_model(torch.randn(3, 4)), "digit")


def test_include_refuses_enumerated_sites_that_would_share_an_axis() -> None:
    def enumerated() -> unknot.Trace:
        q = unknot.Trace()
        q.categorical(logits=torch.zeros(2, 3), name="y", gradient="enumerate")
        return q

    q = unknot.Trace()
    q.include(enumerated(), "digit", 0)
    torch.testing.assert_close(expect(q, torch.ones(2)), torch.ones(2))
    with pytest.raises(
        TraceError, match=r"'digit\[1\]\.y' was enumerated .* the axis that 'digit\[0\]\.y' has"
    ):
        q.include(enumerated(), "digit", 1)


COUNTS = 3


def counted(q: unknot.Trace, logits: Tensor, gradient: str) -> tuple[Tensor, list[Tensor]]:
    """A loop of random length per item: item b has count[b] + 1 parts."""
    count = q.categorical(logits=logits, name="count", gradient=gradient)
    parts = []
    for k in range(COUNTS):
        with q.scope("part", k), q.where(count >= k):
            parts.append(q.normal(torch.full((logits.shape[0],), float(k)), 1.0, name="z", event_dims=0))
    return count, parts


def test_a_sampled_length_per_item() -> None:
    q = unknot.Trace(samples=5)
    count, parts = counted(q, torch.zeros(4, COUNTS), "score_function")
    for s in range(5):
        for b in range(4):
            expected = q["count"].log_prob[s, b].item()
            for k in range(int(count[s, b]) + 1):
                off = parts[k][s, b].item() - k
                expected += -0.5 * off**2 - 0.9189385
            assert q.log_prob()[s, b].item() == pytest.approx(expected, abs=1e-4)


def test_an_enumerated_length_per_item() -> None:
    """E[number of parts] summed exactly, with gradient, and the same value by hand."""
    logits = torch.randn(4, COUNTS, requires_grad=True)
    q = unknot.Trace()
    counted(q, logits, "enumerate")
    p = unknot.Trace()
    for k in range(COUNTS):
        with p.scope("part", k):
            p.log_term(torch.where(q[f"part[{k}].z"].active, 1.0, 0.0), name="one")
    lengths = expect(q, p.log_prob())
    by_hand = (logits.softmax(-1) * torch.tensor([1.0, 2.0, 3.0])).sum(-1)
    torch.testing.assert_close(lengths, by_hand)
    ours, theirs = (torch.autograd.grad(t.sum(), logits, retain_graph=True)[0] for t in (lengths, by_hand))
    torch.testing.assert_close(ours, theirs)


def chain(q: unknot.Trace, alive: Tensor, depth: int) -> Tensor:
    """A geometric number of steps by recursion."""
    if depth == 4 or not bool(alive.any()):
        return torch.zeros(alive.shape)
    with q.scope("step"), q.where(alive):
        more = q.bernoulli(torch.full(alive.shape, 0.5), name="more", event_dims=0)
        return alive.float() + chain(q, alive & (more > 0), depth + 1)


def test_recursion() -> None:
    q = unknot.Trace()
    steps = chain(q, torch.ones(64, dtype=torch.bool), 0)
    assert "step.step.more" in q
    torch.testing.assert_close(q.log_prob(), steps * torch.tensor(0.5).log())


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.y = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.concrete(self.y(x), 0.5, name="y")
        return q


class Scene(nn.Module):
    """Uses a trained encoder as it is."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.where = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        for k in range(2):
            part = q.normal(self.where(x), 0.1, name=f"part{k}")
            q.include(self.inner(part), "digit", k)
        return q


@pytest.mark.parametrize("frozen", [True, False])
def test_a_trained_model_drops_in(frozen: bool) -> None:
    trained = Encoder()
    saved = trained.state_dict()
    inner = Encoder()
    inner.load_state_dict(saved)  # the weights load as they are
    inner.requires_grad_(not frozen)
    scene = Scene(inner)
    q = scene(torch.randn(5, 8))
    assert list(q) == ["part0", "digit[0].y", "part1", "digit[1].y"]
    q.log_prob().sum().backward()
    assert scene.where.weight.grad is not None
    assert bool((scene.where.weight.grad != 0).any())  # gradient passes through the inner model
    assert (inner.y.weight.grad is None) == frozen
