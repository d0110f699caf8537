"""The number of turns: probabilities by hand, labels, turns that cannot be missed, extreme log-odds."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

import unknot
from tests.statistics import assert_frequencies
from unknot.core.turns import number_of_turns

STOPS = torch.tensor([[0.3, -1.2, 0.8], [2.0, 0.0, -0.5]], dtype=torch.float64)


def by_coins(stops: list[float]) -> list[float]:
    """P(n) by going through all 2^K ways in which K coins can fall: n is where the first of them says stop."""
    found = [0.0] * (len(stops) + 1)
    for coins in itertools.product([False, True], repeat=len(stops)):
        chance = 1.0
        for stopped, odds in zip(coins, stops, strict=True):
            chance *= 1 / (1 + math.exp(-odds)) if stopped else 1 / (1 + math.exp(odds))
        found[coins.index(True) if any(coins) else len(stops)] += chance
    return found


def test_probabilities_are_those_of_the_first_stop() -> None:
    expected = torch.tensor([by_coins(row) for row in STOPS.tolist()], dtype=torch.float64)
    torch.testing.assert_close(number_of_turns(STOPS).probs, expected)


def test_probs_say_the_same_as_logits() -> None:
    one, two = unknot.Trace(), unknot.Trace()
    label = torch.tensor([3, 0])
    one.turns(logits=STOPS, value=label, name="n")
    two.turns(STOPS.sigmoid(), value=label, name="n")
    torch.testing.assert_close(one.log_prob(), two.log_prob())


def test_draws_have_these_frequencies() -> None:
    torch.manual_seed(0)
    drawn = unknot.Trace().turns(logits=STOPS[:1].expand(4000, 3), name="n")
    assert_frequencies(torch.bincount(drawn, minlength=4), torch.tensor(by_coins(STOPS[0].tolist())))


def test_a_turn_that_cannot_be_missed() -> None:
    """-inf: at least one turn. That state counts nothing, and its gradient is no NaN."""
    free = torch.zeros(5, 2, requires_grad=True)
    q, p = unknot.Trace(), unknot.Trace()
    logits = torch.cat([torch.full((5, 1), -float("inf")), free], -1)
    count = q.turns(logits=logits, name="n", gradient="enumerate")
    assert count.shape == (4, 1, 5)
    assert q["n"].weight[:, 0, 0].tolist() == pytest.approx([0, 0.5, 0.25, 0.25])
    p.turns(logits=torch.zeros(3), value=q["n"], name="n")
    terms = unknot.objectives.elbo(q, p)
    terms.loss.backward()
    assert free.grad is not None
    assert bool(free.grad.isfinite().all())


@pytest.mark.parametrize("odds", [-200.0, 200.0])
def test_extreme_odds_stay_finite(odds: float) -> None:
    logits = torch.full((1, 3), odds, requires_grad=True)
    dist = number_of_turns(logits)
    dist.log_prob(torch.tensor([3 if odds < 0 else 0])).sum().backward()
    assert dist.probs[0, 3 if odds < 0 else 0] == 1
    assert logits.grad is not None
    assert bool(logits.grad.isfinite().all())


def test_labels_are_numbers_of_turns() -> None:
    known = unknot.partial(torch.tensor([2, -1]))
    q = unknot.Trace()
    q.turns(logits=STOPS, value=known, name="n", gradient="enumerate")
    assert q["n"].weight[:, 0, 0].tolist() == [0, 0, 1, 0]
    torch.testing.assert_close(q["n"].weight[:, 0, 1].sum(), torch.tensor(1.0, dtype=torch.float64))
    with pytest.raises(unknot.UnknotError, match=r"at item 0 is 4, but .* whole numbers from 0 to 3"):
        unknot.Trace().turns(logits=STOPS, value=torch.tensor([4, 0]), name="n")
