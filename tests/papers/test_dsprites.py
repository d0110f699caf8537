"""What the rows of dsprites have in common, prices that fall, and scores of codes that are the factors themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unknot import Trace
from unknot.metrics import Probabilities
from unknot.papers.dsprites import (
    E19_NETWORKS,
    E19_ROWS,
    OBJECTIVES,
    PRINTED,
    REWARDED_FROM,
    cases,
    falling,
    raised,
    scores,
)
from unknot.papers.metric_codes import CLASS, STYLE
from unknot.train.objective import resolve


def test_all_rows_differ_in_objective_and_reward_alone():
    rows = {case["row"]: case for case in cases("quick")}
    assert set(E19_ROWS) <= set(rows)
    first = rows[PRINTED]
    wide = rows.pop(E19_NETWORKS)
    assert wide["train"]["objective"] == first["train"]["objective"]
    assert wide["model"]["nodes"]["x"]["activation"] == "tanh"
    for case in rows.values():
        same = {**case["train"], "objective": "", "stages": ""}
        assert same == {**first["train"], "objective": "", "stages": ""}
        assert [s["steps"] for s in case["train"]["stages"]] == [s["steps"] for s in first["train"]["stages"]]
        assert (case["items"], case["block"]) == (first["items"], first["block"])
        assert case["model"]["nodes"][STYLE] == first["model"]["nodes"][STYLE]
        assert case["model"]["nodes"]["x"] == first["model"]["nodes"]["x"]


def traces() -> tuple[Trace, Trace]:
    torch.manual_seed(0)
    q, p = Trace(), Trace()
    q.concrete(torch.randn(32, 3), 0.66, name=CLASS)
    q.normal(torch.randn(32, 4), 0.5, name=STYLE)
    p.concrete(torch.zeros(3), 0.66, value=q[CLASS], name=CLASS)
    p.normal(torch.zeros(4), 1.0, value=q[STYLE], name=STYLE)
    p.normal(q[STYLE].value.sum(-1), 1.0, value=torch.zeros(32), name="x")
    return q, p


@pytest.mark.parametrize("row", [row for row in OBJECTIVES if "FactorVAE" not in row])
@pytest.mark.parametrize("price", [1.0, 5.0])
def test_a_raised_price_is_the_objective_with_less_weight_on_the_reconstruction(row: str, price: float):
    q, p = traces()
    own, high = (
        resolve(one, 500, lambda: traces()[0])(q, p).total
        for one in (OBJECTIVES[row], raised(OBJECTIVES[row], price))
    )
    reconstruction = p["x"].log_prob.mean()
    torch.testing.assert_close(high - reconstruction, price * (own - reconstruction))


def test_the_class_is_rewarded_when_places_and_sizes_are_in_the_style():
    stages = falling(OBJECTIVES[PRINTED], 10, 20.0)
    prices = [stage["objective"]["information"][CLASS] for stage in stages]
    assert [price < 0 for price in prices] == [k >= REWARDED_FROM for k in range(len(stages))]
    assert not any("information" in stage["objective"] for stage in falling(OBJECTIVES[PRINTED], 10, 0.0))
    highest = [stage["objective"]["alpha"] for stage in stages]
    assert highest == sorted(highest, reverse=True)


def test_codes_that_are_the_factors_have_the_bestscores():
    rng = np.random.default_rng(0)
    factors = {
        "shape": rng.integers(0, 3, 3000),
        "posX": rng.integers(0, 8, 3000),
        "posY": rng.integers(0, 8, 3000),
    }
    style = np.stack([factors["posX"] / 2, factors["posY"] / 2], 1) + 0.001 * rng.normal(size=(3000, 2))
    found = scores({CLASS: Probabilities(np.eye(3)[factors["shape"]]), STYLE: style}, factors)
    assert found["shape"] == 100.0
    assert found["kim"] == 1.0
    assert found["dci"] == pytest.approx(1.0, abs=0.02)
    assert found["mig"] == pytest.approx(1.0, abs=0.02)
