"""Stroke and width of bars and rings whose measures are known."""

from __future__ import annotations

import pytest
import torch

from experiments.digits.strokes import stroke, width
from experiments.digits.zero_shot import measured
from unknot.data import from_arrays


def bar(across: int, down: int = 40) -> torch.Tensor:
    image = torch.zeros(1, 1, 48, 48)
    image[..., 2 : 2 + down, 10 : 10 + across] = 1.0
    return image


@pytest.mark.parametrize("across", [2, 3, 4])
def test_the_stroke_of_a_long_bar_is_its_width(across):
    ends = 40 / (40 + across)  # the two short sides are edge too
    assert float(stroke(bar(across))) == pytest.approx(across * ends, rel=0.03)


def test_grey_ink_has_the_same_stroke_and_an_empty_image_none():
    assert float(stroke(0.5 * bar(3))) == pytest.approx(float(stroke(bar(3))))
    assert float(stroke(torch.zeros(1, 1, 8, 8))) == 0.0
    assert float(width(torch.zeros(1, 1, 8, 8))) == 0.0


@pytest.mark.parametrize("across", [1, 5, 20])
def test_the_width_of_even_ink_is_its_columns(across):
    exact = (across**2 - 1) ** 0.5  # sqrt(12) times the deviation of 0 ... across-1
    assert float(width(bar(across))) == pytest.approx(exact, abs=1e-3)


def test_width_counts_columns_wherever_the_ink_lies():
    assert torch.allclose(width(bar(5)), width(bar(5).roll(7, -1)), atol=1e-3)


def test_a_data_set_gets_both_as_factors():
    images = (torch.cat([bar(2), bar(4)]) * 255).to(torch.uint8)
    made = measured(from_arrays(images, {"kind": [0, 1]}))
    assert list(made.factors) == ["kind", "stroke", "width"]
    assert made.factors["stroke"].values.tolist() == pytest.approx(
        stroke(torch.cat([bar(2), bar(4)])).tolist()
    )
