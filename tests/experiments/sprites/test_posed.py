"""Posed: both programs, their bound, the angle's wrap, and what a trained model's doors need of it."""

from __future__ import annotations

import math

import pytest
import torch

import unknot
from experiments.sprites.ink_frame import RADIUS, ink_moments
from experiments.sprites.posed import Posed
from unknot.core.handlers import modes
from unknot.objectives import elbo


def made(**arguments: int) -> Posed:
    torch.manual_seed(0)
    return Posed(canvas=16, side=8, sectors=4, **arguments).double().eval()


@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("style", [0, 2])
def test_both_programs_run_with_any_number_of_draws(samples: int | None, style: int) -> None:
    model, x = made(style=style), torch.rand(5, 1, 16, 16, dtype=torch.float64)
    q = model.encode(x, samples=samples)
    p = model.decode(x, q)
    unknot.check(q, p)
    terms = elbo(q, p)
    assert terms.per_item.shape == (5,)
    terms.loss.backward()
    assert all(w.grad is not None and bool(w.grad.isfinite().all()) for w in model.parameters())


@pytest.mark.parametrize("style", [0, 1, 2])
def test_new_images_are_drawn_with_some_variables_given_or_none(style: int) -> None:
    model = made(style=style)
    assert model.decode(None, unknot.given(4))["x"].value.shape == (4, 1, 16, 16)
    drawn = model.decode(None, unknot.given(4, {"class": torch.tensor([0, 1, 2, 0])}))
    assert drawn["scale"].value.shape == (4, 1)
    assert drawn["class"].value.tolist() == [0, 1, 2, 0]


def test_the_bound_is_a_sum_over_classes_and_sectors() -> None:
    """At the same draws: a loop over all twelve pairs, with the masses written out."""
    model, x = made(), torch.rand(3, 1, 16, 16, dtype=torch.float64)
    q = model.encode(x)
    p = model.decode(x, q)
    found = elbo(q, p).per_item
    total = p["place"].log_prob - q["place"].log_prob + p["scale"].log_prob - q["scale"].log_prob
    log_class = q["class"].dist.logits.log_softmax(-1)  # (B, 3)
    log_sector = q["sector"].dist.logits.log_softmax(-1)  # (3, 1, B, 4)
    for kind in range(3):
        for sector in range(4):
            own = log_class[:, kind] + log_sector[kind, 0, :, sector]
            values = {
                "place": q["place"].value,
                "scale": q["scale"].value,
                "class": torch.full((3,), kind),
                "sector": torch.full((3,), sector),
                "within": q["within"].value[sector, kind, 0],
            }
            one = model.decode(x, unknot.given(3, values))
            log_q = q["within"].log_prob[sector, kind, 0]
            inner = one.log_prob("within", "x") - log_q - math.log(12) - own
            total = total + own.exp() * inner
    torch.testing.assert_close(found, total)


def test_an_angle_goes_once_around() -> None:
    model = made()
    sectors, zero = torch.arange(4), torch.zeros(4, 1)
    torch.testing.assert_close(
        model.angle(sectors, zero)[:, 0], torch.tensor([0.0, 0.5, -1.0, -0.5]) * math.pi
    )
    lit = model.decode(None, unknot.given(4, sector=sectors, **_at(4)))["x"].value
    assert lit.shape == (4, 1, 16, 16)
    torch.testing.assert_close(
        lit[1, 0], lit[0, 0].rot90(-1), atol=1e-6, rtol=0
    )  # a quarter on, about the middle
    torch.testing.assert_close(lit[2, 0], lit[0, 0].rot90(2), atol=1e-6, rtol=0)


def test_place_and_scale_are_those_of_the_ink() -> None:
    model = made()
    at = {**_at(2), "place": torch.tensor([[0.3, -0.2], [0.0, 0.1]]).double()}
    at["scale"] = torch.tensor([[0.0], [-1.0]]).double()
    lit = model.decode(None, unknot.given(2, sector=torch.zeros(2).long(), **at))["x"].value.detach()
    center, radius = ink_moments(lit - lit.amin((1, 2, 3), keepdim=True))
    torch.testing.assert_close(center, at["place"], atol=0.02, rtol=0)
    assert abs(float(radius[1] / radius[0]) - math.exp(-0.3)) < 0.05
    assert abs(float(radius[0]) - RADIUS * 0.4) < 0.03


def test_the_angle_is_reported_at_best_values() -> None:
    model = made()
    with modes(), torch.no_grad():
        q = model.encode(torch.rand(5, 1, 16, 16, dtype=torch.float64))
    said = model.predictions(q)
    assert said["angle"].shape == (5, 1)
    torch.testing.assert_close(said["angle"], model.angle(q["sector"].value, q["within"].value))


def _at(items: int) -> dict[str, torch.Tensor]:
    numbers = {"place": 2, "scale": 1, "within": 1}
    here = {name: torch.zeros(items, size, dtype=torch.float64) for name, size in numbers.items()}
    return {**here, "class": torch.zeros(items).long()}
