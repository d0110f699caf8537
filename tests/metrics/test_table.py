"""The table: every score with an interval, what it skips and why, one sentence for bad input."""

import json
import re

import numpy as np
import pytest

from tests.metrics import cases
from unknot.errors import SpecError, UnknotError
from unknot.metrics import Probabilities, mig, table
from unknot.metrics.table import SCORES

MIXED = {"c": cases.FACTORS[:, 2], "z": cases.NOISY[:, :2]}
CHEAP = ["mig", "modularity", "med", "class_gap", "nmi"]


def test_every_score_of_mixed_codes_and_factors() -> None:
    few = slice(0, 300)
    factors = {"class": cases.FACTORS[few, 2], "a": cases.FACTORS[few, 0], "b": cases.NOISY[few, 1]}
    found = table({name: codes[few] for name, codes in MIXED.items()}, factors, resamples=2)
    assert list(found.results) == list(SCORES)
    assert not found.skipped
    for row in found.rows:
        assert np.isfinite([row.value, row.low, row.high]).all(), row
        assert row.low <= row.value <= row.high
    assert found.importance is not None
    assert found.importance.shape == (3, 3)
    json.dumps(found.to_dict())


def test_values_are_those_of_the_scores() -> None:
    found = table(MIXED, cases.FACTORS, only=CHEAP, resamples=3)
    assert found["mig"].numbers == mig(MIXED, cases.FACTORS).numbers
    assert repr(found).splitlines()[0].split()[:2] == ["mig", f"{mig(MIXED, cases.FACTORS).value:.3f}"]


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    one = table(MIXED, cases.FACTORS, only=["mig", "nmi"], resamples=4)
    two = table(MIXED, cases.FACTORS, only=["mig", "nmi"], resamples=4, jobs=2)
    assert one.rows == two.rows


def test_scores_of_categories_are_skipped_without_any() -> None:
    found = table(cases.NOISY, cases.FACTORS, only=CHEAP, resamples=0)
    assert set(found.skipped) == {"class_gap", "nmi"}
    assert "no code is discrete" in repr(found)
    assert np.isnan(found.rows[0].low)


def test_a_protocol_for_the_scores_it_speaks_of() -> None:
    found = table(MIXED, cases.FACTORS, only=["mig", "med"], resamples=0, protocol="carbonneau2020")
    assert [row.protocol for row in found.rows] == ["carbonneau2020", "locatello2019", "locatello2019"]
    with pytest.raises(SpecError, match="did you mean"):
        table(MIXED, cases.FACTORS, protocol="carboneau2020")
    with pytest.raises(SpecError, match="no score 'migg': did you mean 'mig'"):
        table(MIXED, cases.FACTORS, only=["migg"])


def test_probabilities_stand_for_a_code() -> None:
    q = 0.9 * np.eye(5)[cases.FACTORS[:, 2]] + 0.02
    found = table({"c": Probabilities(q), "z": cases.NOISY}, cases.FACTORS, only=CHEAP, resamples=2)
    assert found["nmi"].by_factor["factor[2]"] == pytest.approx(1)


N = 60
BAD = {
    "NaN": (np.where(np.eye(N, 3) > 0, np.nan, 1.0), cases.FACTORS[:N], "3 values|not finite"),
    "infinite": (np.full((N, 2), np.inf), cases.FACTORS[:N], "not finite"),
    "lengths": (cases.NOISY[:N], cases.FACTORS[: N - 1], "60 rows of codes and 59 of factors"),
    "constant": (cases.NOISY[:N], np.zeros(N), "one value in all 60 rows"),
    "no rows": (np.zeros((0, 3)), cases.FACTORS[:0], "not empty"),
    "no columns": ({}, cases.FACTORS[:N], "empty"),
    "three axes": (np.zeros((N, 2, 2)), cases.FACTORS[:N], r"shape \(60, 2, 2\)"),
    "ragged": ([[1.0], [1.0, 2.0]], cases.FACTORS[:2], "not an array"),
    "ids": (cases.NOISY[:N], np.arange(N), "too many for categories"),
}


@pytest.mark.parametrize("score", list(SCORES))
@pytest.mark.parametrize("case", list(BAD))
def test_bad_input_ends_in_one_sentence(score: str, case: str) -> None:
    codes, factors, message = BAD[case]
    with pytest.raises(UnknotError, match=message) as error:
        SCORES[score](codes, factors)
    assert len(re.findall(r"[.!?](\s|$)", str(error.value))) <= 1
    assert "\n" not in str(error.value)
