"""What zero-shot holds out, and that only one of a pair of rows has seen it."""

from __future__ import annotations

import pytest
import torch

from experiments.digits.zero_shot import MEAN, SAW, SHARE, UNSEEN, cases, measured, run, stroke, width
from unknot.data import from_arrays, hold_out, load


@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: one.key)
def test_a_share_of_one_digit_is_held_out_and_nothing_else(one):
    train = measured(load("digits").split("train"))
    seen, unseen = hold_out(train, one.combination(train))
    digits = train.factors["digit"].values
    assert unseen.factors["digit"].values.unique().tolist() == [one.digit]
    assert len(unseen) / int((digits == one.digit).sum()) == pytest.approx(SHARE, abs=0.02)
    left = seen.factors[one.feature].values[seen.factors["digit"].values == one.digit]
    held = unseen.factors[one.feature].values
    assert float(left.max()) <= float(held.min()) if one.largest else float(left.min()) >= float(held.max())


def test_rows_come_in_pairs_that_differ_in_what_they_saw():
    rows = {case["row"]: case for case in cases("quick")}
    for row in list(rows):
        if row.endswith(SAW):
            blind = rows[row.removesuffix(f", {SAW}")]
            assert {**rows[row], "row": "", "saw": False} == {**blind, "row": ""}


def test_the_mean_of_the_seen_is_off_by_what_separates_the_unseen():
    case = next(case for case in cases("smoke") if case["row"] == MEAN)
    numbers = run(case, 0, None)
    train, test = (measured(load("digits")).split(part) for part in ("train", "test"))
    one = UNSEEN[0]
    (low, _) = one.combination(train)[one.feature]
    sevens = train.factors["digit"].values == one.digit
    strokes = train.factors[one.feature].values
    mean = strokes[sevens & (strokes < low)].mean()
    held = hold_out(test, one.combination(train))[1].factors[one.feature].values
    slow = torch.tensor([(float(v) - float(mean)) ** 2 for v in held]).mean().sqrt()
    assert numbers["thick_sevens_code"] == pytest.approx(float(slow), rel=1e-4)


# ---- Stroke and width of bars and rings whose measures are known -----------------------------------------


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
