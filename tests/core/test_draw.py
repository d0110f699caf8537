"""How a site comes by its value."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Normal, OneHotCategorical
from torch.nn.functional import cross_entropy

import unknot
from unknot.core.draw import as_value, check_shapes, item_loss
from unknot.core.relaxed import Concrete
from unknot.errors import TraceError

# ---- Observations take the form of the site's draws.


ONE_HOT = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    "dist", [Concrete(torch.zeros(2, 3), 0.5), OneHotCategorical(logits=torch.zeros(2, 3))]
)
@pytest.mark.parametrize(
    "given",
    [
        [1, 2],
        torch.tensor([1, 2], dtype=torch.int32),
        torch.tensor(ONE_HOT),
        torch.tensor(ONE_HOT).long(),
        torch.tensor(ONE_HOT).bool(),
    ],
)
def test_classes_become_one_hot(dist, given) -> None:
    assert as_value("y", dist, given).tolist() == ONE_HOT


def test_several_classes_per_item() -> None:
    dist = Concrete(torch.zeros(2, 4, 3), 0.5)
    assert as_value("y", dist, torch.zeros(2, 4, dtype=torch.long)).shape == (2, 4, 3)


def test_unknown_classes_are_any_class() -> None:
    dist = Categorical(logits=torch.zeros(2, 3))
    assert as_value("y", dist, torch.tensor([-1, 2]), torch.tensor([False, True])).tolist() == [0, 2]


def test_numbers_take_the_type_of_the_parameters() -> None:
    assert as_value("x", Normal(torch.zeros(2, dtype=torch.float64), 1.0), [1, 2]).dtype == torch.float64
    assert as_value("x", Bernoulli(logits=torch.zeros(2)), torch.tensor([True, False])).tolist() == [1.0, 0.0]
    value = torch.zeros(2)
    assert as_value("x", Normal(torch.zeros(2), 1.0), value) is value


@pytest.mark.parametrize(
    ("own", "value", "leading", "fits"),
    [
        ((), (4, 5), 1, True),
        ((5,), (4, 5), 1, True),
        ((4, 1), (4, 5), 1, True),
        ((3, 4, 5), (4, 5), 1, True),
        ((4, 5), (3, 4, 5), 2, True),
        ((3, 1, 5), (3, 4, 5), 2, True),
        ((4, 6), (4, 5), 1, False),
        ((4, 5), (4, 1), 1, False),
        ((3, 5), (4, 5), 1, False),
        ((4, 1), (4,), 1, False),
        ((3, 1, 5), (4, 5), 1, True),  # draws that all items share
        ((1, 1), (1,), 1, True),
    ],
)
def test_check_shapes(own, value, leading: int, fits: bool) -> None:
    dist = Normal(torch.zeros(own), torch.ones(own))
    if fits:
        check_shapes("x", dist, torch.zeros(value), leading)
    else:
        with pytest.raises(TraceError, match="site 'x': the value has shape"):
            check_shapes("x", dist, torch.zeros(value), leading)


# ---- A loss per item: losses per element are summed over the item, and what is neither is refused.


def square(prediction: Tensor, target: Tensor) -> Tensor:
    return (prediction - target) ** 2


def test_elements_are_summed_over_an_item_and_samples_stay() -> None:
    prediction, target = torch.randn(5, 4, 2, 3), torch.randn(4, 2, 3)
    loss, leading = item_loss("x", square, prediction, target, 2)
    assert leading == 2
    expected = [[square(prediction[s, b], target[b]).sum() for b in range(4)] for s in range(5)]
    torch.testing.assert_close(loss, torch.tensor(expected))


def test_one_number_per_item_is_taken_as_it_is() -> None:
    logits, classes = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])

    def loss(prediction: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(prediction, target, reduction="none")

    found, leading = item_loss("y", loss, logits, classes, 1)
    assert leading == 1
    torch.testing.assert_close(found, -logits.log_softmax(-1)[torch.arange(4), classes])


@pytest.mark.parametrize(
    ("prediction", "target", "message"),
    [
        (torch.zeros(4, 3), torch.tensor(1.0), "no batch axis"),
        (torch.zeros(5, 1, 3), torch.zeros(4, 3), "not of the same 4 items"),
    ],
)
def test_shapes_that_would_mix_items_are_refused(prediction: Tensor, target: Tensor, message: str) -> None:
    with pytest.raises(TraceError, match=f"site 'x': .*{message}"):
        unknot.Trace().loss(square, prediction, target, name="x")


def test_one_number_for_the_whole_batch_is_refused() -> None:
    with pytest.raises(TraceError, match="reduction='none'"):
        item_loss("x", lambda a, b: square(a, b).mean(), torch.zeros(4, 3), torch.zeros(4, 3), 1)


# ---- The ways to a site's value: what fits a distribution, and what is refused.


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
    with pytest.raises(TraceError, match=r"parameters of shape \(3, 3\) can be read in several ways"):
        r.normal(torch.zeros(3, 3), 1.0, name="v")
    assert r.normal(torch.zeros(3, 3), 1.0, name="v", event_dims=1).shape == (3, 3, 3)
    for wrong in (3, 0):
        with pytest.raises(TraceError, match=f"event_dims={wrong} does not fit parameters of Dirichlet"):
            r.dirichlet(torch.ones(3, 2), name="d", event_dims=wrong)
