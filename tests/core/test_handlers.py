"""Handlers: each effect alone, their order, nesting and threads; noise that is shared by processes."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import Size, Tensor
from torch.distributions import Bernoulli, Categorical, Gamma, Normal, OneHotCategorical

import unknot
from unknot.core import gradients, handlers
from unknot.core.relaxed import BinaryConcrete, Concrete
from unknot.errors import TraceError


def source() -> unknot.Trace:
    p = unknot.Trace()
    p.categorical(logits=torch.zeros(3), value=torch.tensor([2, 0]), name="y")
    with p.scope("thing", 0):
        p.normal(torch.zeros(2, 3), 1.0, value=torch.arange(6.0).reshape(2, 3), name="z")
    return p


def program() -> unknot.Trace:
    q = unknot.Trace()
    with q.scope("digit", 0):
        q.normal(torch.zeros(2), 1.0, name="z")
    q.loss(lambda a, b: (a - b) ** 2, torch.zeros(2), torch.ones(2), name="x")
    q.log_term(torch.zeros(2), name="bonus")
    return q


# ---- values -----------------------------------------------------------------------------------------------


def test_replay_observes_the_values_of_another_trace() -> None:
    logits = torch.randn(2, 3, requires_grad=True)
    q = unknot.Trace()
    with unknot.replay(source()):
        y = q.categorical(logits=logits, name="y", gradient="enumerate")
        with q.scope("thing", 0):
            z = q.normal(torch.zeros(2, 3), 2.0, name="z")
    assert y.tolist() == [2, 0]
    assert torch.equal(z, torch.arange(6.0).reshape(2, 3))
    torch.testing.assert_close(q["y"].log_prob, logits.log_softmax(-1)[[0, 1], [2, 0]])
    assert q["y"].known is True
    assert not q["y"].enumerated


def test_replay_leaves_other_sites_and_given_values() -> None:
    q = unknot.Trace()
    with unknot.replay(source()):
        q.normal(torch.zeros(2, 3), 1.0, name="w")
        y = q.categorical(logits=torch.zeros(2, 3), value=torch.tensor([1, 1]), name="y")
    assert q["w"].known is False
    assert y.tolist() == [1, 1]


def test_replayed_values_carry_no_gradient() -> None:
    scale = torch.ones(4, requires_grad=True)
    p = unknot.Trace()
    p.normal(torch.zeros(4), scale, name="z")
    with unknot.replay(p):
        assert not unknot.Trace().normal(torch.zeros(4), 1.0, name="z").requires_grad


def test_condition_overrides_what_the_program_gives() -> None:
    labels = unknot.partial(torch.tensor([1, -1]))
    q = unknot.Trace()
    with unknot.condition({"y": torch.tensor([0, 2]), "no such site": torch.zeros(2)}):
        q.categorical(logits=torch.zeros(2, 3), value=labels, name="y")
    assert q["y"].value.tolist() == [0, 2]
    assert q["y"].known is True


def test_do_fixes_the_value_and_scores_nothing() -> None:
    loc = torch.zeros(2, requires_grad=True)
    p = unknot.Trace()
    with unknot.do({"z": torch.tensor([3.0, 4.0])}):
        z = p.normal(loc, 1.0, name="z")
        p.normal(z, 1.0, value=torch.zeros(2), name="x")
    assert z.tolist() == [3.0, 4.0]
    assert p["z"].log_prob.tolist() == [0.0, 0.0]
    torch.testing.assert_close(p["x"].log_prob, Normal(z, 1.0).log_prob(torch.zeros(2)))


def test_the_mode_of_every_family() -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0], [2.0, -1.0, 0.0]])
    hard = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert torch.equal(gradients.mode(Concrete(logits, torch.tensor(0.66))), hard)
    assert torch.equal(gradients.mode(OneHotCategorical(logits=logits)), hard)
    assert torch.equal(gradients.mode(Categorical(logits=logits)), torch.tensor([1, 0]))
    assert torch.equal(gradients.mode(Bernoulli(logits=logits)), (logits > 0).float())
    assert torch.equal(gradients.mode(BinaryConcrete(logits, torch.tensor(0.5))), (logits > 0).float())
    assert torch.equal(gradients.mode(Normal(logits, 1.0)), logits)
    assert torch.equal(gradients.mode(Gamma(torch.ones(3), torch.full((3,), 2.0))), torch.full((3,), 0.5))


def class_and_number(x: Tensor, label: object = None) -> unknot.Trace:
    """A class that is enumerated, and a number computed from it."""
    q = unknot.Trace()
    y = q.one_hot_categorical(logits=x, value=label, name="y", gradient="enumerate")
    q.normal(unknot.cat([x, y]), 0.5, name="z")
    return q


def test_later_sites_are_computed_from_the_modes_of_earlier_ones() -> None:
    x = torch.randn(5, 3)
    with unknot.modes():
        q = class_and_number(x)
    hard = torch.nn.functional.one_hot(x.argmax(-1), 3).float()
    assert torch.equal(q["y"].value, hard)
    assert torch.equal(q["z"].value, torch.cat([x, hard], -1))
    assert q.leading_shape == (5,)


def test_labels_stay_where_they_are_known() -> None:
    x = torch.tensor([[5.0, 0.0], [5.0, 0.0]])
    with unknot.modes():
        q = class_and_number(x, unknot.partial(torch.tensor([1, -1])))
    assert q["y"].value.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_samples_share_the_mode_and_the_effect_ends_with_the_block() -> None:
    with unknot.modes():
        q = unknot.Trace(samples=4)
        assert q.normal(torch.zeros(3, 2), 1.0, name="z").shape == (4, 3, 2)
        assert handlers.watched()
    assert not handlers.watched()
    drawn = unknot.Trace().normal(torch.zeros(3, 2), 1.0, name="z")
    assert bool((drawn != 0).all())


# ---- weights ----------------------------------------------------------------------------------------------


def test_a_mask_of_elements_counts_these_alone_and_reads_no_others() -> None:
    x = torch.randn(3, 4, 2)
    keep = torch.rand(3, 4, 2) < 0.5
    loc = torch.randn(3, 4, 2, requires_grad=True)
    p = unknot.Trace()
    with unknot.mask(keep):
        p.normal(loc, 1.0, value=torch.where(keep, x, torch.nan), name="x")
    expected = (Normal(loc, 1.0).log_prob(x) * keep).sum((1, 2))
    torch.testing.assert_close(p["x"].log_prob, expected)
    (slope,) = torch.autograd.grad(p["x"].log_prob.sum(), loc)
    torch.testing.assert_close(slope, (x - loc) * keep)


def test_a_mask_of_steps_covers_all_that_belongs_to_a_step() -> None:
    x, keep = torch.randn(3, 4, 2), torch.rand(3, 4) < 0.5
    p = unknot.Trace()
    with unknot.mask(keep):
        p.normal(0.0, 1.0, value=x, name="x")
    expected = (Normal(0.0, 1.0).log_prob(x).sum(-1) * keep).sum(1)
    torch.testing.assert_close(p["x"].log_prob, expected)


def test_a_masked_draw_is_masked_in_p_too() -> None:
    keep = torch.tensor([[True, False], [True, True]])
    q, p = unknot.Trace(), unknot.Trace()
    with unknot.mask(keep):
        z = q.normal(torch.zeros(2, 2), 2.0, name="z")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    torch.testing.assert_close(p["z"].log_prob, (Normal(0.0, 1.0).log_prob(z) * keep).sum(-1))


@pytest.mark.parametrize("family", ["gamma", "beta", "poisson", "bernoulli", "log_normal"])
def test_what_is_masked_may_lie_outside_the_support(family: str) -> None:
    p = unknot.Trace()
    one = torch.ones(2, 2, requires_grad=True)
    parameters = {"poisson": (one,), "bernoulli": (None, one)}.get(family, (one, one))
    value = torch.full((2, 2), 0.5 if family == "beta" else 1.0)
    value[0, 1] = torch.nan
    with unknot.mask(~value.isnan()):
        getattr(p, family)(*parameters, value=value, name="x")
    (slope,) = torch.autograd.grad(p["x"].log_prob.sum(), one)
    assert bool(slope.isfinite().all())


def test_a_mask_that_does_not_fit_is_refused() -> None:
    with unknot.mask(torch.ones(2, 5, dtype=torch.bool)), pytest.raises(TraceError, match="does not fit"):
        unknot.Trace().normal(torch.zeros(2, 3), 1.0, value=torch.zeros(2, 3), name="x")
    with pytest.raises(TraceError, match="expected a boolean tensor"):
        unknot.mask(torch.ones(2))


def test_scales_multiply() -> None:
    p = unknot.Trace()
    with unknot.scale(0.5), unknot.scale(torch.tensor([2.0, 4.0])):
        p.normal(0.0, 1.0, value=torch.zeros(2), name="x")
        p.log_term(torch.ones(2), name="bonus")
    torch.testing.assert_close(
        p["x"].log_prob, Normal(0.0, 1.0).log_prob(torch.zeros(2)) * torch.tensor([1.0, 2.0])
    )
    assert p["bonus"].log_prob.tolist() == [1.0, 2.0]


# ---- looking and hiding -----------------------------------------------------------------------------------


def test_record_keeps_every_kind_of_site() -> None:
    with unknot.record() as seen:
        program()
    program()
    assert [node.name for node in seen.nodes] == ["digit[0].z", "x", "bonus"]


def test_block_hides_sites_from_outer_handlers_and_not_from_inner_ones() -> None:
    with unknot.record() as outer, unknot.block("digit[0].z"), unknot.record() as inner:
        program()
    assert [node.name for node in outer.nodes] == ["x", "bonus"]
    assert len(inner.nodes) == 3


def test_block_keeps_outer_conditions_off() -> None:
    values = {"z": torch.tensor([7.0, 7.0])}
    with unknot.condition(values), unknot.block():
        z = unknot.Trace().normal(torch.zeros(2), 1.0, name="z")
    assert z.tolist() != [7.0, 7.0]


def test_the_innermost_handler_comes_first() -> None:
    with unknot.condition({"z": torch.ones(2)}), unknot.condition({"z": torch.zeros(2)}):
        z = unknot.Trace().normal(torch.zeros(2), 1.0, name="z")
    assert z.tolist() == [1.0, 1.0]  # the outer one has the last word


def test_handlers_leave_the_stack_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), unknot.modes():
        raise ZeroDivisionError
    assert not handlers.watched()


def test_the_stack_belongs_to_the_thread() -> None:
    seen: list[bool] = []
    with unknot.modes():
        thread = threading.Thread(target=lambda: seen.append(handlers.watched()))
        thread.start()
        thread.join()
    assert seen == [False]


# ---- random numbers ---------------------------------------------------------------------------------------


def test_seed_repeats_and_leaves_the_state_outside() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with unknot.seed(0):
        first = torch.rand(2)
    assert torch.equal(torch.rand(2), expected)
    with unknot.seed(0):
        assert torch.equal(torch.rand(2), first)


def test_seed_stands_around_compiled_functions() -> None:
    @torch.compile(backend="eager", fullgraph=True)
    def draw(x: Tensor) -> Tensor:
        q = unknot.Trace()
        return q.normal(x, 1.0, name="z")

    x = torch.zeros(3)
    with unknot.seed(0):
        first = draw(x)
    with unknot.seed(0):
        assert torch.equal(draw(x), first)

    @torch.compile(backend="eager", fullgraph=True)
    def seeded(x: Tensor) -> Tensor:
        with unknot.seed(0):
            return x + torch.randn_like(x)

    with pytest.raises(Exception, match="put `with seed"):
        seeded(x)


def _noise(shape: tuple[int, ...], event_dims: int) -> Tensor:
    torch.manual_seed(0)
    return handlers.fill_noise(Size(shape), event_dims, torch.empty(0), Tensor.normal_)


@pytest.mark.parametrize(("shape", "event_dims"), [((4,), 0), ((4, 3), 1), ((2, 4, 3), 1)])
def test_parts_of_the_noise_make_up_the_whole(shape: tuple[int, ...], event_dims: int) -> None:
    axis = len(shape) - event_dims - 1
    whole = _noise(shape, event_dims)
    part = (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])
    parts = []
    for rank in range(2):
        with handlers.shard(rank, 2):
            parts.append(_noise(part, event_dims))
    assert torch.equal(torch.cat(parts, axis), whole)


def test_one_draw_for_all_items_is_the_same_in_all_processes() -> None:
    with handlers.shard(1, 2):
        assert torch.equal(_noise((3,), 1), _noise((3,), 1))


def test_noise_that_cannot_be_split_differs_and_leaves_equal_states() -> None:
    found, states = [], []
    for rank in range(2):
        torch.manual_seed(0)
        with handlers.shard(rank, 2):
            found.append(handlers.draw_by_rank(lambda: torch.rand(3)))
        states.append(torch.rand(1))
    assert not torch.equal(found[0], found[1])
    assert torch.equal(states[0], states[1])
