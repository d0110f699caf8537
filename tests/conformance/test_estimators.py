"""The conformance rows: every estimator is as expected, and the known mistake is seen."""

import pytest

from tests.conformance.estimators import COLUMN_MISTAKE, Row, conformance
from unknot.objectives.marginal.weights import ESTIMATORS


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return conformance()


def test_every_row_is_as_expected(rows):
    assert [row for row in rows if not row.ok] == []


def test_every_estimator_is_held_against_a_loop_and_an_exact_mixture(rows):
    for check in ("double loop", "finite data set"):
        assert {row.estimator for row in rows if row.what.startswith(check)} >= set(ESTIMATORS)


def test_the_column_mistake_is_seen_wherever_it_makes_a_difference(rows):
    wrong = [row for row in rows if row.estimator == COLUMN_MISTAKE]
    assert len(wrong) == 4
    assert all(row.measured > 20 * row.error for row in wrong)


def test_the_stratified_bias_of_the_logarithm_shrinks_with_the_batch(rows):
    bias = {
        (r.N, r.B): r.measured for r in rows if "log q^ - log q" in r.what and r.estimator == "stratified"
    }
    assert bias[16, 4] < bias[16, 8] < bias[16, 16] + 1e-9
    assert bias[64, 8] < bias[64, 32] < 0


def test_its_spread_shrinks_with_the_batch(rows):
    spread = {(r.N, r.B): r.spread for r in rows if "q^/q" in r.what and r.estimator == "stratified"}
    assert spread[16, 4] > spread[16, 8] > spread[16, 16]
    assert spread[64, 8] > spread[64, 32]


def test_a_reference_batch_is_unbiased_and_less_spread(rows):
    ratio = {r.estimator: r for r in rows if (r.N, r.B) == (64, 8) and "q^/q" in r.what}
    log_bias = {r.estimator: r.measured for r in rows if (r.N, r.B) == (64, 8) and "log q^" in r.what}
    assert ratio["stratified, 24 more"].ok
    assert ratio["stratified, 24 more"].spread < 0.5 * ratio["stratified"].spread
    assert log_bias["stratified"] < 3 * log_bias["stratified, 24 more"] < 0
