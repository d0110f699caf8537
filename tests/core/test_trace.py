"""Traces: the slides' programs, reading, writing, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import unknot
from unknot.errors import TraceError

PIXELS, HIDDEN, DIGITS, STYLE = 12, 8, 10, 3


class Encoder(nn.Module):
    """The slides' encoder, word for word."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.ReLU())
        self.y_log_weights = nn.Linear(HIDDEN, DIGITS)
        self.z_mean = nn.Linear(HIDDEN + DIGITS, STYLE)
        self.z_std = nn.Sequential(nn.Linear(HIDDEN + DIGITS, STYLE), nn.Softplus())

    def forward(self, x, y_values=None):
        q = unknot.Trace()
        h = self.h(x)
        y = q.concrete(self.y_log_weights(h), 0.66, value=y_values, name="y")
        hy = torch.cat([h, y], -1)
        z = q.normal(self.z_mean(hy), self.z_std(hy), name="z")  # noqa: F841 (the slides name it)
        return q


class Decoder(nn.Module):
    """The slides' decoder, word for word."""

    def __init__(self) -> None:
        super().__init__()
        self.y_log_weights = nn.Parameter(torch.zeros(DIGITS))
        self.h = nn.Sequential(nn.Linear(DIGITS + STYLE, HIDDEN), nn.ReLU())
        self.x_mean = nn.Sequential(nn.Linear(HIDDEN, PIXELS), nn.Sigmoid())

    def bce(self, x_mean: Tensor, x: Tensor) -> Tensor:
        return F.binary_cross_entropy(x_mean, x, reduction="none").sum(-1)

    def forward(self, x, q):
        p = unknot.Trace()
        y = p.concrete(self.y_log_weights, 0.66, value=q["y"], name="y")
        z = p.normal(0.0, 1.0, value=q["z"], name="z")
        h = self.h(torch.cat([y, z], -1))
        x = p.loss(self.bce, self.x_mean(h), x, name="x")
        return p


@pytest.mark.parametrize("labels", [None, [0, 1, 2, 3], unknot.partial([0, -1, 2, -1])])
def test_the_slides_programs(labels: Any) -> None:
    x = torch.rand(4, PIXELS)
    q = Encoder()(x, labels if not isinstance(labels, list) else torch.tensor(labels))
    p = Decoder()(x, q)
    unknot.check(q, p)
    assert list(q) == ["y", "z"]
    assert list(p) == ["y", "z", "x"]
    assert p.log_prob().shape == q.log_prob().shape == (4,)
    assert p["z"].value is q["z"].value
    (p.log_prob() - q.log_prob()).mean().backward()


def test_the_slides_programs_in_keyword_form() -> None:
    torch.manual_seed(0)
    q = unknot.Trace()
    logits, loc, scale = torch.randn(4, 3), torch.randn(4, 2), torch.rand(4, 2)
    q.concrete(logits=logits, temperature=0.66, name="y")
    q.normal(loc=loc, scale=scale, name="z")
    torch.manual_seed(0)
    twin = unknot.Trace()
    torch.randn(4, 3), torch.randn(4, 2), torch.rand(4, 2)
    twin.concrete(logits, 0.66, name="y")
    twin.normal(loc, scale, name="z")
    assert torch.equal(q.log_prob(), twin.log_prob())
    assert torch.equal(q["y"].value, twin["y"].value)


def test_the_slides_decoder_takes_samples() -> None:
    """S draws need no change in the decoder: the target is repeated along the sample axis."""
    x = torch.rand(4, PIXELS)
    q = unknot.Trace(samples=5)
    q.concrete(torch.zeros(4, DIGITS), 0.66, name="y")
    q.normal(torch.zeros(4, STYLE), 1.0, name="z")
    assert Decoder()(x, q).log_prob().shape == (5, 4)


def test_networks_before_the_first_draw_run_once() -> None:
    q = unknot.Trace(samples=7)
    h = torch.randn(4, 5)
    y = q.concrete(torch.randn(4, 3), 0.5, name="y")
    z = q.normal(unknot.cat([h, y]), 1.0, name="z")
    w = q.normal(torch.zeros(4, 2), 1.0, name="w")  # depends on no draw, and is drawn S times all the same
    assert (y.shape, z.shape, w.shape) == ((7, 4, 3), (7, 4, 8), (7, 4, 2))
    assert q.leading_shape == (7, 4)
    assert not torch.equal(w[0], w[1])


def test_samples_are_at_least_one() -> None:
    with pytest.raises(TraceError, match="at least 1, but got 0"):
        unknot.Trace(samples=0)


@pytest.mark.parametrize("gradient", ["enumerate", "plug_in", "nonsense"])
@pytest.mark.parametrize("value", [None, torch.zeros(2, 3)])
def test_a_gradient_that_does_not_fit(gradient: str, value: Tensor | None) -> None:
    with pytest.raises(
        TraceError, match=f"gradient='{gradient}' does not fit Normal; choose one of pathwise"
    ):
        unknot.Trace().normal(torch.zeros(2, 3), 1.0, value=value, name="z", gradient=gradient)


def test_items_are_never_paired_with_other_items() -> None:
    """(B, 1) parameters and (B,) data would broadcast to (B, B)."""
    p = unknot.Trace()
    with pytest.raises(TraceError, match=r"value has shape \(4,\).*parameters of Normal have shape \(4, 1\)"):
        p.normal(torch.zeros(4, 1), 1.0, value=torch.zeros(4), name="x")
    with pytest.raises(TraceError, match="not of the same 4 items"):
        p.loss(lambda a, b: (a - b) ** 2, torch.zeros(4, 1), torch.zeros(4), name="x")
    p.normal(torch.zeros(4, 2), 1.0, name="z")
    with pytest.raises(TraceError, match=r"site 'f': a log_term of shape \(4, 1\)"):
        p.log_term(torch.zeros(4, 1), name="f")


def test_a_loss_is_per_item_or_per_element() -> None:
    p = unknot.Trace()
    value, target = torch.rand(4, 3), torch.rand(4, 3)
    p.loss(lambda a, b: (a - b) ** 2, value, target, name="elements")
    p.loss(lambda a, b: ((a - b) ** 2).sum(-1), value, target, name="items")
    torch.testing.assert_close(p["elements"].log_prob, p["items"].log_prob)
    images = torch.rand(4, 1, 5, 5)
    p.loss(lambda a, b: (a - b) ** 2, images + 1, images, name="image")
    torch.testing.assert_close(p["image"].log_prob, torch.full((4,), -25.0))
    with pytest.raises(TraceError, match="one number for the whole batch"):
        p.loss(F.mse_loss, value, target, name="mean")
    with pytest.raises(TraceError, match=r"loss has shape \(3,\); expected one value per item"):
        p.loss(lambda a, b: (a - b).sum(0), value, target, name="wrong")
    with pytest.raises(TraceError, match="no batch axis"):
        p.loss(lambda a, b: a - b, value, torch.tensor(1.0), name="scalar")


@pytest.mark.parametrize("classes", [3, 4])
def test_cross_entropy_is_a_loss(classes: int) -> None:
    """Prediction and target need not have one shape, also where the two happen to broadcast."""
    p = unknot.Trace()
    logits, labels = torch.randn(4, classes), torch.tensor([0, 2, 1, 0])
    p.loss(lambda a, b: F.cross_entropy(a, b, reduction="none"), logits, labels, name="y")
    torch.testing.assert_close(p.log_prob(), logits.log_softmax(-1).gather(1, labels[:, None])[:, 0])


def test_a_loss_without_target_adds_nothing() -> None:
    p = unknot.Trace()
    p.normal(torch.zeros(4, 2), 1.0, name="z")
    x = p.loss(F.mse_loss, torch.ones(4, 3), None, name="x")
    assert torch.equal(x, torch.ones(4, 3))
    assert p["x"].known is False
    assert p["x"].log_prob.tolist() == [0.0] * 4
