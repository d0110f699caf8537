"""Regularizers by name: their settings, their order, their sign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.objectives.regularizers.programs import batch_of_digits, hand_written, model_for, regularized
from unknot.errors import SpecError
from unknot.objectives.regularizers.registry import REGULARIZERS, Regularizers

ALL = {"swap": 1.0, "independence": 2.0, "agreement": {"weight": 3.0, "confidence": 0.5}}


def test_one_log_term_for_each_in_one_order_whatever_that_of_the_file() -> None:
    _, p = regularized(model_for(augment="affine"), batch_of_digits(), **ALL)
    added = ["agreement_digit", "independence_digit", "swap"]
    assert list(p) == ["digit", "style", "x", *added]
    assert all(p[name].log_prob.shape == (40,) for name in added)


def test_a_weight_of_zero_costs_nothing_and_a_negative_one_rewards() -> None:
    model, batch = model_for(), batch_of_digits()
    assert not Regularizers({"swap": 0.0})
    found = [regularized(model, batch, independence=w)[1]["independence_digit"] for w in (-2.0, 2.0)]
    assert bool((found[0].log_prob > 0).all())
    assert bool((found[1].log_prob < 0).all())


def test_only_the_agreement_needs_a_second_view() -> None:
    assert [name for name, one in REGULARIZERS.items() if one.needs_second_view] == ["agreement"]
    assert Regularizers({"agreement": 1.0}).needs_second_view


@pytest.mark.parametrize("name", REGULARIZERS)
def test_every_one_takes_a_hand_written_program(name: str) -> None:
    program, batch = hand_written(), batch_of_digits()
    batch = replace(batch, second_view=program.augment(batch.x, scored=False))
    q, p = program(batch)
    before = set(p)
    linked = {"weight": 1.0, "site": "digit", "must_link": [batch.ids[~batch.known["digit"]][:2].tolist()]}
    Regularizers({name: linked if name == "pairs" else 1.0}).add_to(program, batch, q, p)
    (added,) = set(p) - before
    p[added].log_prob.mean().backward()
    assert any(w.grad is not None and bool(w.grad.abs().sum() > 0) for w in program.parameters())
    assert p[added].log_prob.shape == (40,)
    assert bool(torch.isfinite(p[added].log_prob).all())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"swop": 1.0}, "unknown key 'swop'; did you mean 'swap'"),
        ({"swap": "much"}, "regularizers.swap is a number, but got 'much'"),
        ({"swap": {"decoder_weight": 0.5}}, "needs 'weight'"),
        ({"pairs": {"weight": 1.0}}, "pairs: needs 'site'"),
        ({"pairs": {"weight": 1.0, "site": "digit", "must_link": [[1, 2, 3]]}}, "must_link"),
        (
            {"agreement": {"weight": 1.0, "confidence": 2.0}},
            "confidence is a number from 0 to 1, but got 2.0",
        ),
        (
            {"agreement": {"weight": 1.0, "confidence": {"digit": 2.0}}},
            "confidence.digit is a number from 0 to 1",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Regularizers(given)
