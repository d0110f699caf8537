"""own-data-generative: methods that know nothing score as they must."""

from __future__ import annotations

import pytest

from experiments.ledger.experiment import settings_of
from experiments.tables.own_data_generative import EXPERIMENT


def numbers(row: str, column: str) -> dict[str, float]:
    case = next(c for c in EXPERIMENT.cases("quick") if (c["row"], c["column"]) == (row, column))
    return EXPERIMENT.run(settings_of(case), 0, None)


def test_the_mean_is_one_standard_deviation_off() -> None:
    assert numbers("gaps: wine", "mean")["rmse"] == pytest.approx(1.0, abs=0.1)


def test_neighbors_are_better_than_the_mean() -> None:
    assert numbers("gaps: wine", "neighbors")["rmse"] < 0.85


def test_shuffled_rows_are_outliers() -> None:
    assert numbers("outliers: wine", "local outlier factor")["auc"] > 0.7
