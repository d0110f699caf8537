"""Purity of neighbors against a loop, and what the rows of latent-maps differ in."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.digits.latent_maps import NEIGHBORS, SEMI_ROW, cases, purity


def test_purity_is_what_a_loop_over_items_counts():
    rng = np.random.default_rng(0)
    codes, classes = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    slow = []
    for i in range(60):
        order = sorted((float(((codes[i] - codes[j]) ** 2).sum()), j) for j in range(60) if j != i)
        slow += [classes[j] == classes[i] for _, j in order[:NEIGHBORS]]
    assert purity(codes, classes) == pytest.approx(np.mean(slow))


def test_only_the_semi_supervised_rows_see_labels():
    for case in cases("quick"):
        assert bool(case["labels"]) == (case["row"] == SEMI_ROW)
