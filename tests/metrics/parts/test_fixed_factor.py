"""Holding a factor fixed: every draw shares it, values come as often as they occur, partners are others."""

import numpy as np
import pytest
import torch

from tests.statistics import assert_frequencies
from unknot.errors import DataError
from unknot.metrics.parts.columns import read_columns
from unknot.metrics.votes import FixedFactor

FACTOR = np.array([0] * 10 + [1] * 30 + [2] * 60 + [3])  # the last value stands alone
OTHER = np.arange(101) % 2
SAMPLER = FixedFactor(read_columns(np.stack([FACTOR, OTHER], 1), None, "factors"), 10)


def test_draws_share_the_value_and_cover_it() -> None:
    rng = np.random.default_rng(0)
    rows = SAMPLER.draw_rows(rng, 0, (500,))
    batch = SAMPLER.alike(rng, 0, rows, 40)
    assert (FACTOR[batch] == FACTOR[rows][:, None]).all()
    assert set(batch[FACTOR[rows] == 0].reshape(-1).tolist()) == set(range(10))
    assert 3 not in FACTOR[rows]


def test_values_come_as_often_as_they_occur() -> None:
    rows = SAMPLER.draw_rows(np.random.default_rng(1), 0, (4000,))
    assert_frequencies(np.bincount(FACTOR[rows]).tolist(), torch.tensor([0.1, 0.3, 0.6]))


def test_partners_are_other_rows_of_the_value_each_as_often() -> None:
    rng = np.random.default_rng(2)
    rows = np.full(9000, 4)
    partners = SAMPLER.partners(rng, 0, rows)
    counted = np.bincount(partners, minlength=10)
    assert counted[4] == 0
    assert counted[10:].sum() == 0
    assert_frequencies(np.delete(counted, 4).tolist(), torch.full((9,), 1 / 9))
    last = SAMPLER.partners(rng, 0, np.full(500, 9))
    assert set(last.tolist()) == set(range(9))


def test_numbers_are_held_by_groups_of_equal_mass() -> None:
    values = np.exp(np.random.default_rng(3).normal(size=1000))
    sampler = FixedFactor(read_columns(values, None, "factors"), 10)
    rng = np.random.default_rng(0)
    rows = sampler.draw_rows(rng, 0, (50,))
    ranks = values.argsort().argsort() // 100
    assert (ranks[sampler.alike(rng, 0, rows, 20)] == ranks[rows][:, None]).all()


def test_a_factor_without_any_repeated_value_is_refused() -> None:
    columns = read_columns(np.array([0.0, 1.0]), True, "factors")
    with pytest.raises(DataError, match="No two rows share"):
        FixedFactor(columns, 10)
