"""FactorVAE score: known answers, a slow simulation of its own, Gini variances, dead codes."""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.metrics import cases
from tests.statistics import standard_errors
from unknot.metrics import factor_vae
from unknot.metrics.protocols import settings


def test_known_answers() -> None:
    for codes in (cases.PERFECT, cases.PERFECT[:, ::-1], cases.DUPLICATED):  # it cannot see a copy
        assert factor_vae(codes, cases.FACTORS).value == 1
    chance = factor_vae(cases.USELESS, cases.USELESS_FACTORS).value
    assert abs(chance - 1 / 3) < standard_errors() * (2 / 9 / 800) ** 0.5


def test_discrete_codes_by_their_gini_variance() -> None:
    shuffled = np.array([3, 0, 4, 1, 2])[cases.FACTORS[:, 2]]  # categories have no order
    codes = {"c": shuffled, "z": cases.NOISY[:, :2]}
    assert factor_vae(codes, cases.FACTORS).value == 1


def test_continuous_factors_are_fixed_by_groups() -> None:
    factors = np.random.default_rng(0).normal(size=(2000, 3))
    assert factor_vae(factors, factors).value == 1


def test_dead_codes_do_not_vote_and_are_not_counted() -> None:
    codes = np.concatenate([cases.PERFECT, np.full((900, 1), 0.5), 0.01 * cases.NOISY[:, :1]], 1)
    found = factor_vae(codes, cases.FACTORS)
    assert found.live == 3
    assert (found.votes[3:] == 0).all()
    assert found.value == 1
    nothing = factor_vae(np.zeros((900, 2)), cases.FACTORS)
    assert (nothing.value, nothing.live) == (0, 0)


def slow_score(codes: np.ndarray, factors: np.ndarray, votes: int, batch: int) -> float:
    """The same game with lists, dictionaries and another generator."""
    draw = random.Random(7)
    rows = list(range(len(codes)))
    spread = [float(np.var(codes[:, d])) for d in range(codes.shape[1])]

    def one() -> tuple[int, int]:
        k = draw.randrange(factors.shape[1])
        value = factors[draw.choice(rows), k]
        alike = [i for i in rows if factors[i, k] == value]
        items = [draw.choice(alike) for _ in range(batch)]
        ratios = [
            float(np.var([codes[i, d] for i in items], ddof=1)) / spread[d] for d in range(codes.shape[1])
        ]
        return ratios.index(min(ratios)), k

    counts: dict[int, dict[int, int]] = {}
    for _ in range(votes):
        d, k = one()
        counts.setdefault(d, {}).setdefault(k, 0)
        counts[d][k] += 1
    said = {d: max(by, key=lambda k: by[k]) for d, by in counts.items()}
    return float(np.mean([said.get(d) == k for d, k in (one() for _ in range(votes))]))


def test_against_a_slow_simulation() -> None:
    rng = np.random.default_rng(3)
    codes, factors = cases.PERFECT[:300] + 0.7 * rng.normal(size=(300, 3)), cases.FACTORS[:300]
    votes = 600
    own = replace(settings("factor_vae"), batch=10, train=votes, test=votes)
    fast, slow = factor_vae(codes, factors, protocol=own).value, slow_score(codes, factors, votes, 10)
    assert 0.4 < slow < 0.95
    # both tables are learned from votes; the accuracy is a mean over other votes
    assert abs(fast - slow) < standard_errors() * (2 * slow * (1 - slow) / votes) ** 0.5


def test_scoring_the_training_votes_flatters() -> None:
    noise = np.random.default_rng(0).normal(size=(900, 10))
    own = replace(settings("factor_vae"), train=100, test=100)
    honest = np.mean([factor_vae(noise, cases.FACTORS, protocol=own, seed=s).value for s in range(5)])
    theirs = np.mean(
        [factor_vae(noise, cases.FACTORS, protocol=replace(own, test=0), seed=s).value for s in range(5)]
    )
    assert theirs > honest + 0.05


def test_scale_does_not_matter_to_live_codes() -> None:
    first = factor_vae(cases.ROTATED, cases.FACTORS)
    assert factor_vae(cases.ROTATED * np.array([4.0, 8.0, 2.0]), cases.FACTORS).value == pytest.approx(
        first.value
    )


def test_a_category_that_nearly_all_items_share_wins_no_votes() -> None:
    stuck = np.zeros(len(cases.FACTORS), int)
    stuck[0] = 1  # a batch without this item: no spread at all
    codes = {"stuck": stuck, "z": cases.NOISY}
    found = factor_vae(codes, cases.FACTORS)
    assert found.value == factor_vae(cases.NOISY, cases.FACTORS).value
    assert found.live == cases.NOISY.shape[1]
