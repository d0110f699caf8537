"""Partial observations and given values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import unknot
from tests.statistics import assert_frequencies, assert_mean
from unknot.errors import TraceError

# ---- Partial observation: who is known, and what becomes of the values.


def test_minus_one_and_nan_mark_the_unknown() -> None:
    assert unknot.partial(torch.tensor([3, -1, 0])).known.tolist() == [True, False, True]
    assert unknot.partial(torch.tensor([0.5, float("nan")])).known.tolist() == [True, False]
    rows = unknot.partial(torch.tensor([[0.1, float("nan")], [0.1, 0.2]]))
    assert rows.known.tolist() == [False, True]


@pytest.mark.parametrize("values", [[3, -1], np.array([3, -1]), torch.tensor([3, -1], dtype=torch.int32)])
def test_values_come_as_lists_arrays_and_tensors(values) -> None:
    assert unknot.partial(values).known.tolist() == [True, False]
    assert unknot.partial(values, known=[False, True]).known.tolist() == [False, True]


def test_a_mask_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(TraceError, match=r"need known of shape \(3,\), but got \(2,\)"):
        unknot.partial(torch.zeros(3, 2), known=[True, False])


@pytest.mark.parametrize("values", [["cat", "dog"], [1, None, 2], "cat", [[1, 2], [3]]])
def test_what_are_no_numbers_is_refused_with_what_marks_the_unknown(values: object) -> None:
    with pytest.raises(
        TraceError, match=r"takes numbers, .* -1 is an unknown class and NaN an unknown number; got"
    ):
        unknot.partial(values)


def test_a_single_number_is_refused() -> None:
    with pytest.raises(TraceError, match="one value per item"):
        unknot.partial(3)


def test_the_value_is_the_label_where_known_and_a_draw_elsewhere() -> None:
    values = torch.tensor([[1.0, 2.0], [float("nan"), 0.0]])
    q = unknot.Trace(samples=4)
    loc = torch.zeros(2, 2, requires_grad=True)
    z = q.normal(loc, 1.0, value=unknot.partial(values), name="z")
    assert z.shape == (4, 2, 2)
    assert torch.equal(z[:, 0], values[0].expand(4, 2))
    assert len(set(z[:, 1, 0].tolist())) == 4
    z.sum().backward()
    assert loc.grad is not None
    assert loc.grad.tolist() == [[0.0, 0.0], [4.0, 4.0]]  # labels carry no gradient


def test_hidden_values_are_never_used() -> None:
    """Whatever stands where nothing is known, the result is the same, bit for bit."""
    known = torch.tensor([True, False, True])
    results = []
    for hidden in (0, 2, -7, 99):
        torch.manual_seed(3)
        labels = torch.tensor([1, hidden, 0])
        q = unknot.Trace()
        y = q.concrete(torch.ones(3, 3), 0.5, value=unknot.partial(labels, known), name="y")
        k = q.categorical(logits=torch.ones(3, 3), value=unknot.partial(labels, known), name="k")
        e = q.categorical(
            logits=torch.ones(3, 3), value=unknot.partial(labels, known), name="e", gradient="enumerate"
        )
        results.append((y, k, e, q.log_prob(), q["e"].weight))
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (torch.zeros(4, 1), r"labels of shape \(4, 1\) do not fit draws of shape \(4, 3\)"),
        (torch.zeros(4), r"labels of shape \(4,\) do not fit parameters of Normal with shape \(4, 3\)"),
        (torch.zeros(5, 3), r"labels of shape \(5, 3\) do not fit parameters"),
    ],
)
def test_labels_of_another_shape_are_refused(values, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        unknot.Trace().normal(torch.zeros(4, 3), 1.0, value=unknot.partial(values), name="z")


def test_labels_for_another_number_of_items_are_refused() -> None:
    with pytest.raises(TraceError, match=r"labels of shape \(5,\) do not fit parameters of Concrete"):
        unknot.Trace().concrete(
            torch.zeros(4, 3), 0.5, value=unknot.partial(torch.tensor([0, 1, 2, 0, -1])), name="y"
        )


def test_each_item_knows_its_own_sites() -> None:
    """Item 0 knows its digit, item 1 its lighting, item 2 nothing, in one batch."""
    q = unknot.Trace()
    q.concrete(torch.zeros(3, 10), 0.66, value=unknot.partial([7, -1, -1]), name="digit")
    q.normal(torch.zeros(3), 1.0, value=unknot.partial([float("nan"), 0.5, float("nan")]), name="light")
    assert q["digit"].known.tolist() == [True, False, False]
    assert q["light"].known.tolist() == [False, True, False]
    assert q["light"].value[1] == 0.5


# ---- Conditioning and generation: the decoder on nothing, on some sites, on q.


DIGITS, STYLE, PIXELS = 5, 3, 7
PRIOR = torch.tensor([0.1, 0.2, 0.3, 0.3, 0.1])


def decoder(x: Tensor | None, q: Any) -> unknot.Trace:
    p = unknot.Trace()
    y = p.concrete(PRIOR.log(), 0.3, value=q["y"], name="y")
    z = p.normal(torch.zeros(STYLE), torch.ones(STYLE), value=q["z"], name="z")
    mean = unknot.cat([y, z]).sum(-1, keepdim=True).expand(*z.shape[:-1], PIXELS)
    p.bernoulli(logits=mean, value=x, name="x")
    return p


def test_on_nothing_everything_comes_from_the_prior() -> None:
    p = decoder(None, unknot.given(20_000))
    assert p["y"].value.shape == (20_000, DIGITS)
    assert p["z"].value.shape == (20_000, STYLE)
    assert p["x"].value.shape == (20_000, PIXELS)
    assert_frequencies(torch.bincount(p["y"].value.argmax(-1), minlength=DIGITS), PRIOR)
    assert_mean(p["z"].value, torch.zeros(STYLE))
    assert_mean(p["z"].value ** 2, torch.ones(STYLE))
    assert p.log_prob().shape == (20_000,)


def test_on_some_sites_the_rest_comes_from_the_prior() -> None:
    p = decoder(None, unknot.given(6, y=3))
    assert p["y"].value.tolist() == [[0.0, 0.0, 0.0, 1.0, 0.0]] * 6
    assert p["y"].known is True
    assert p["z"].known is False
    assert len(set(p["z"].value[:, 0].tolist())) == 6
    torch.testing.assert_close(p["y"].log_prob.exp(), torch.full((6,), 0.3))


@pytest.mark.parametrize(
    "y", [3, torch.full((6,), 3), torch.eye(DIGITS)[3], torch.eye(DIGITS)[3].expand(6, DIGITS), [3] * 6]
)
def test_values_are_numbers_vectors_or_one_per_item(y: Any) -> None:
    p = decoder(None, unknot.given(6, {"y": y}))
    assert p["y"].value.argmax(-1).tolist() == [3] * 6


def test_partly_given() -> None:
    p = decoder(None, unknot.given(4, y=unknot.partial([3, -1, 0, -1])))
    assert p["y"].known.tolist() == [True, False, True, False]
    assert p["y"].value[2].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_on_q() -> None:
    q = unknot.Trace(samples=2)
    q.concrete(torch.zeros(4, DIGITS), 0.3, name="y")
    q.normal(torch.zeros(4, STYLE), 1.0, name="z")
    p = decoder(torch.zeros(4, PIXELS), q)
    assert p.log_prob().shape == (2, 4)


def test_if_present() -> None:
    """value=q.get(...) reuses the site if q has it, and draws it from the prior otherwise."""
    q, p = unknot.Trace(), unknot.Trace()
    q.concrete(torch.zeros(4, DIGITS), 0.3, name="y")
    p.concrete(PRIOR.log(), 0.3, value=q.get("y"), name="y")
    p.normal(torch.zeros(STYLE), 1.0, value=q.get("z"), name="z")
    assert p["y"].reused
    assert not p["z"].reused
    assert p["z"].value.shape == (4, STYLE)
    given = unknot.given(4)
    assert given.get("z") == given["z"]
    assert "anything" in given


def test_unused_names_are_told() -> None:
    given = unknot.given(2, {"y": 1, "digit[0].y": 2, "digit[1].z": 0.5}, stlye=0.0)
    decoder(None, given)
    assert given.unused == {"digit[0].y", "digit[1].z", "stlye"}
    part = given.under("digit", 0)
    assert part["y"].tolist() == [2, 2]
    assert part.unused == set()
    assert given.unused == {"digit[1].z", "stlye"}


def test_the_wrong_number_of_items() -> None:
    with pytest.raises(TraceError, match="'y' has 3 items, but the batch has 6"):
        unknot.given(6, y=torch.zeros(3, DIGITS))
    with pytest.raises(TraceError, match="at least one item"):
        unknot.given(0)


def test_a_prior_whose_shape_could_be_the_batch_is_refused() -> None:
    """Three numbers for three items: one vector for all, or one number each?"""
    with pytest.raises(TraceError, match=r"site 'z': parameters of shape \(3,\) could be .* event_dims=1"):
        decoder(None, unknot.given(STYLE))
    p = unknot.Trace()
    q = unknot.given(3)
    vector = p.normal(torch.zeros(3), 1.0, value=q["z"], name="z", event_dims=1)
    number = p.normal(torch.zeros(3), 1.0, value=q["n"], name="n", event_dims=0)
    assert (vector.shape, number.shape) == ((3, 3), (3,))


@pytest.mark.parametrize("scoped", [False, True])
def test_what_is_known_of_a_site_settles_its_shape(scoped: bool) -> None:
    """A prior of five numbers for five items: a vector for all of them, or one number each, as is known elsewhere."""
    name = "part.z" if scoped else "z"
    for event_dims, shape in ((1, (5, 5)), (0, (5,))):
        q: Any = unknot.given(5).with_event_dims({name: event_dims})
        source = q.under("part") if scoped else q
        assert unknot.Trace().normal(torch.zeros(5), 1.0, value=source["z"], name="z").shape == shape
        assert unknot.Trace().normal(torch.zeros(5, 2), 1.0, value=source["z"], name="z").shape == (5, 2)
