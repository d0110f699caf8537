"""Rankings: by errors, by a score, without labels; places are shared fairly; what choosing gains is arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.workflow.sweep.made import finished
from unknot.errors import SpecError
from unknot.metrics import model_centrality, udr
from unknot.workflow.codes import Codes
from unknot.workflow.sweep.ranking import Column, agreements, rank, what_choosing_gains

ONE, TWO = {"train.objective.beta": 1}, {"train.objective.beta": 4}


def test_places_are_shared_and_a_missing_number_comes_last() -> None:
    column = Column("mig", "mig", (0.5, None, 0.9, 0.5))
    assert column.places() == [2.5, 4.0, 1.0, 2.5]
    assert Column("error.a", "a", (0.5, 0.1), True).places() == [2.0, 1.0]


def test_errors_decide_where_there_are_some_by_mean_place(tmp_path: Path) -> None:
    runs = [
        finished(tmp_path, ONE, 0, {"kind": 0.3, "size": 0.1}),  # places 3 and 1
        finished(tmp_path, ONE, 1, {"kind": 0.1, "size": 0.2}),  # 1 and 2
        finished(tmp_path, TWO, 0, {"kind": 0.2, "size": 0.3}),  # 2 and 3
    ]
    found = rank(runs)
    assert found.by == ("error.kind", "error.size")
    assert [run.member.title for run in found.runs] == [
        "beta = 1, seed 1",
        "beta = 1, seed 0",
        "beta = 4, seed 0",
    ]
    assert found.columns[0].values == (0.1, 0.3, 0.2)
    assert rank(runs, "error.size").runs[0].member.seed == 0
    assert json.loads(json.dumps(found.to_dict()))["runs"][0]["numbers"]["error.kind"] == 0.1


def test_without_errors_a_score_decides_and_without_any_udr(tmp_path: Path) -> None:
    scored = [finished(tmp_path, ONE, seed, scores={"mig": mig}) for seed, mig in enumerate((0.2, 0.6))]
    assert rank(scored).runs[0].member.seed == 1
    z = np.random.default_rng(0).normal(size=(400, 2))
    runs = [finished(tmp_path / "x", ONE, seed) for seed in (0, 1)]
    runs += [finished(tmp_path / "x", TWO, seed, codes=z * (seed + 1)) for seed in (0, 1)]
    found = rank(runs)
    assert found.by == ("udr",)
    assert [run.member.point for run in found.runs] == [TWO, TWO, ONE, ONE]


def test_settings_without_restarts_are_compared_with_one_another(tmp_path: Path) -> None:
    z = np.random.default_rng(0).normal(size=(400, 2))
    runs = [finished(tmp_path, {"train.steps": n}, 0, codes=None if n == 2 else z) for n in (1, 2, 3)]
    assert rank(runs, "udr").runs[-1].member.point == {"train.steps": 2}


def test_an_unknown_number_is_refused_with_the_nearest(tmp_path: Path) -> None:
    runs = [finished(tmp_path, ONE, seed, {"kind": 0.1}) for seed in (0, 1)]
    with pytest.raises(SpecError, match=r"--rank-by udrr.*did you mean 'udr'"):
        rank(runs, "udrr")


def test_what_choosing_gains_is_the_first_the_mean_and_the_best(tmp_path: Path) -> None:
    runs = [
        finished(tmp_path, ONE, seed, {"kind": e}, {"mig": m})
        for seed, e, m in ((0, 0.1, 0.2), (1, 0.3, 0.4))
    ]
    error, mig, *_ = what_choosing_gains(rank(runs))
    assert error == {"number": "error of kind", "first": "10.00 %", "at random": "20.00 %", "best": "10.00 %"}
    assert mig == {"number": "mig", "first": "0.200", "at random": "0.300", "best": "0.400"}


# Restarts of one setting are compared with one another, by UDR and ModelCentrality, and with no others.

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(500, 2))
ALIKE = [Z, -Z[:, ::-1] + 0.05 * RNG.normal(size=Z.shape)]
NOISE = [RNG.normal(size=(500, 2)) for _ in range(3)]


def made(codes: np.ndarray, divergence: tuple[float, float] | None = None) -> Codes:
    return Codes({"z": codes}, {}, {} if divergence is None else {"z": np.array(divergence)})


def test_groups_are_scored_apart_and_one_alone_has_no_score() -> None:
    runs = [made(codes) for codes in (NOISE[0], *ALIKE, NOISE[1], NOISE[2])]
    found = agreements(runs, ["b", "a", "a", "b", "c"])
    assert found["udr"][1:3] == udr(ALIKE).scores.tolist()
    assert found["model_centrality"][1:3] == model_centrality(ALIKE).scores.tolist()
    for values in found.values():
        assert values[4] is None
        assert min(values[1], values[2]) > max(values[0], values[3])


def test_divergences_say_which_codes_live_where_every_run_has_them() -> None:
    dead = np.concatenate([Z[:, :1], 1e-3 * NOISE[0][:, :1]], 1)
    runs = [made(dead, (1.0, 0.0)), made(Z, (1.0, 1.0))]
    told = udr([dead, Z], divergences=[np.array([1.0, 0.0]), np.array([1.0, 1.0])]).scores.tolist()
    assert agreements(runs, ["a", "a"])["udr"] == told
    assert agreements([runs[0], made(Z)], ["a", "a"])["udr"] == udr([dead, Z]).scores.tolist()
