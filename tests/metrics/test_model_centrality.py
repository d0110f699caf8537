"""ModelCentrality: the medoid of restarts, symmetric, without labels."""

import numpy as np
import pytest

from unknot.metrics import model_centrality

RNG = np.random.default_rng(0)
CODES = RNG.normal(size=(1000, 4))


def test_the_odd_one_out_is_not_chosen() -> None:
    turned = CODES @ np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    noisy = -2 * CODES[:, [2, 0, 3, 1]] + 0.1 * RNG.normal(size=CODES.shape)
    found = model_centrality([turned, CODES, noisy])
    assert found.best in (1, 2)
    assert found.scores.argmin() == 0
    assert found.pairs == pytest.approx(found.pairs.T)


def test_equal_restarts_agree_fully() -> None:
    assert model_centrality([CODES, CODES[:, ::-1], -CODES]).scores.tolist() == [1, 1, 1]


def test_a_dead_restart_scores_nothing() -> None:
    assert model_centrality([CODES, CODES, np.zeros((1000, 4))]).scores[2] == 0


def test_categories_are_held_fixed_by_value() -> None:
    classes = RNG.integers(0, 3, 1000)
    restarts = [{"c": classes, "z": CODES}, {"c": (classes + 1) % 3, "z": CODES[:, ::-1]}]
    assert model_centrality(restarts).value == 1
