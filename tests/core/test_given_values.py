"""Conditioning and generation: the decoder on nothing, on some sites, on q."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import unknot
from tests.statistics import assert_frequencies, assert_mean
from unknot.errors import TraceError

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
