"""Restarts of one setting are compared with one another, by UDR and ModelCentrality, and with no others."""

from __future__ import annotations

import numpy as np

from unknot.metrics import model_centrality, udr
from unknot.workflow.codes_file import Codes
from unknot.workflow.sweep.agreement import agreements

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
