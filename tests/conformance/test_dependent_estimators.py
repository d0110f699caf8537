"""The rows of dependent encoders: exact where they must be, unbiased, and the shortcut is seen."""

import pytest
import torch

from tests.conformance.dependent_estimators import continuous_parent, finite_parent
from tests.conformance.row import Row


def test_finite_parents_are_exact_and_the_shortcut_is_not():
    torch.manual_seed(0)
    *rows, shortcut = finite_parent()
    assert all(row.ok and row.measured < 1e-10 for row in rows)
    assert shortcut.measured > 0.1


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    torch.manual_seed(0)
    return continuous_parent(trials=20)


def test_continuous_parents_are_unbiased(rows):
    assert [row for row in rows if not row.ok] == []


def test_the_bias_of_the_logarithm_shrinks_with_draws_and_pairs(rows):
    bias = {(r.estimator, r.B): r.measured for r in rows if "log q" in r.what}
    assert bias["4 draws", 32] < bias["32 draws", 32] + 0.05
    assert bias["4 pairs", 32] < bias["31 pairs", 32] + 0.05
