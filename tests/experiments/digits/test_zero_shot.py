"""What zero-shot holds out, and that only one of a pair of rows has seen it."""

from __future__ import annotations

import pytest
import torch

from experiments.digits.zero_shot import MEAN, SAW, SHARE, UNSEEN, cases, measured, run
from unknot.data import hold_out, load


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
