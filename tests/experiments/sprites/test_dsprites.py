"""What the rows of dsprites have in common, prices that fall, and scores of codes that are the factors themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.ledger.codes import CLASS, STYLE
from experiments.sprites.dsprites import (
    E19_NETWORKS,
    E19_ROWS,
    FROZEN,
    FULL,
    OBJECTIVES,
    OURS,
    PRINTED,
    STAGES,
    cases,
    decreasing,
    even_stages,
    raised,
    scores,
)
from unknot import Trace
from unknot.metrics import Probabilities
from unknot.train.objective import resolve


def test_all_rows_differ_in_objective_and_the_first_steps_of_ours_alone() -> None:
    rows = {case["row"]: case for case in cases("quick")}
    assert set(E19_ROWS) <= set(rows)
    first = rows[PRINTED]
    wide, small = rows.pop(E19_NETWORKS), rows.pop(OURS)
    assert wide["train"]["objective"] == first["train"]["objective"]
    assert wide["model"]["nodes"]["x"]["decoder"]["activation"] == "tanh"
    full = [rows.pop(f"{row}, {FULL}") for row in E19_ROWS]
    assert [case["train"]["objective"] for case in full] == [OBJECTIVES[row] for row in E19_ROWS]
    assert {case["block"] for case in full} == {1}
    for case in rows.values():
        same = {**case["train"], "objective": "", "stages": ""}
        assert same == {**first["train"], "objective": "", "stages": ""}
        assert (case["items"], case["block"]) == (first["items"], first["block"])
        nodes, others = case["model"]["nodes"], first["model"]["nodes"]
        assert {**nodes, CLASS: {**nodes[CLASS], "gradient": ""}} == {
            **others,
            CLASS: {**others[CLASS], "gradient": ""},
        }
    assert small["train"]["steps"] < first["train"]["steps"]  # the others are given more
    assert small["model"]["nodes"]["x"]["decoder"]["hidden"]


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
def test_a_raised_price_is_that_of_all_but_reconstruction_and_marginals(row: str, price: float) -> None:
    q, p = traces()
    own, high = (
        resolve(one, 500, lambda: traces()[0], compiled=True).function(q, p)
        for one in (OBJECTIVES[row], raised(OBJECTIVES[row], price))
    )
    kept = p["x"].log_prob.mean()
    if "marginal" in own:
        kept = kept + own["marginal"].mean()
    torch.testing.assert_close(high.total - kept, price * (own.total - kept))


@pytest.mark.parametrize("row", OBJECTIVES)
def test_the_price_of_information_falls_to_its_own_in_every_row(row: str) -> None:
    stages = decreasing(OBJECTIVES[row], {"steps": 1000})["stages"]
    priced = OBJECTIVES[row]["name"] in ("hfvae", "beta_tcvae")
    prices = [s["objective"]["alpha" if priced else "beta"] for s in stages]
    own = OBJECTIVES[row]["beta"] if row == "β-VAE, β = 4" else 1.0
    assert prices == pytest.approx(
        [own * price for _, price in (STAGES if priced else even_stages(OBJECTIVES[row]))]
    )
    assert all(price > own for price in prices)
    assert sum(stage["steps"] for stage in stages) < 1000


def test_the_class_comes_first_and_rests_while_prices_fall() -> None:
    ours = next(case for case in cases("quick") if case["row"] == OURS)
    first, *rest = ours["train"]["stages"]
    assert first["objective"]["name"] == "information_maximization"
    assert all(stage["frozen"] == FROZEN for stage in rest)
    assert ours["train"]["objective"]["information"][CLASS] < 0


def test_codes_that_are_the_factors_have_the_bestscores() -> None:
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


def test_a_dead_class_takes_no_part_in_the_scores() -> None:
    rng = np.random.default_rng(0)
    factors = {"shape": rng.integers(0, 3, 3000), "posX": rng.integers(0, 8, 3000)}
    masses = np.tile([0.9, 0.1, 0.0], (3000, 1))
    masses[:30] = [0.1, 0.9, 0.0]  # one image in a hundred has another class, whatever it shows
    codes = {
        CLASS: Probabilities(masses),
        STYLE: np.stack(list(factors.values()), 1) + 0.001 * rng.normal(size=(3000, 2)),
    }
    assert scores(codes, factors, dead=(CLASS,))["kim"] == 1.0
    assert scores(codes, factors)["kim"] < 0.9
    assert scores(codes, factors, dead=(CLASS,))["shape"] == scores(codes, factors)["shape"]
