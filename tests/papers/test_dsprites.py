"""What the rows of dsprites have in common, and scores of codes that are the factors themselves."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.metrics import Probabilities
from unknot.papers.dsprites import E19_ROWS, OBJECTIVES, OURS, _scores, cases
from unknot.papers.metric_codes import CLASS, STYLE


def test_the_rows_of_the_literature_differ_in_the_objective_alone():
    rows = {case["row"]: case for case in cases("quick")}
    plain = [{**rows[row], "row": "", "train": {**rows[row]["train"], "objective": ""}} for row in OBJECTIVES]
    assert all(one == plain[0] for one in plain)
    ours = rows[OURS]
    assert {key: ours["train"][key] for key in ("steps", "batch_size", "learning_rate")} == {
        key: plain[0]["train"][key] for key in ("steps", "batch_size", "learning_rate")
    }
    assert set(E19_ROWS) <= set(rows)


def test_codes_that_are_the_factors_have_the_best_scores():
    rng = np.random.default_rng(0)
    factors = {
        "shape": rng.integers(0, 3, 3000),
        "posX": rng.integers(0, 8, 3000),
        "posY": rng.integers(0, 8, 3000),
    }
    style = np.stack([factors["posX"] / 2, factors["posY"] / 2], 1) + 0.001 * rng.normal(size=(3000, 2))
    found = _scores({CLASS: Probabilities(np.eye(3)[factors["shape"]]), STYLE: style}, factors)
    assert found["shape"] == 100.0
    assert found["kim"] == 1.0
    assert found["dci"] == pytest.approx(1.0, abs=0.02)
    assert found["mig"] == pytest.approx(1.0, abs=0.02)
