"""Items whose class is known, with what is said of them."""

from __future__ import annotations

from dataclasses import replace

import torch

from tests.report.tables import DATA, KIND, answers, model
from unknot.report.answered import answered


def test_only_known_classes_are_there_and_numbers_are_not() -> None:
    hidden = torch.arange(60) < 50
    factors = {"kind": DATA.factors["kind"].hide(hidden), "size": DATA.factors["size"]}
    (one,) = answered(model(), replace(DATA, factors=factors), answers({3: 0.7}))
    assert one.factor == "kind"
    assert one.classes == ("ill", "well")
    assert one.rows.tolist() == list(range(50))
    assert one.truth.tolist() == KIND[:50].tolist()
    assert (one.guess != one.truth).nonzero()[0].tolist() == [3]
    assert one.sure[3] == 0.7


def test_nothing_known_is_nothing_to_say() -> None:
    assert list(answered(model(), replace(DATA, factors={}), answers({}))) == []
