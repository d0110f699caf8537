"""The rank correlation of mnist-restarts against a count of pairs, and seeds that no two sets of restarts share."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.papers import mnist_restarts
from unknot.papers.mnist_restarts import RESTARTS, _rank_correlation, cases


def test_rank_correlation_is_one_minus_the_squared_differences_of_ranks():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, accuracies = rng.normal(size=7), rng.normal(size=7)
        ranks = [[sum(other < one for other in values) for one in values] for values in (scores, accuracies)]
        apart = sum((a - b) ** 2 for a, b in zip(*ranks, strict=True))
        assert _rank_correlation(list(scores), accuracies) == pytest.approx(1 - 6 * apart / (7 * (49 - 1)))
    assert _rank_correlation([1.0, 1.0], np.array([1.0, 2.0])) == 0.0


def test_two_sets_share_no_restart_and_see_no_labels(monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []

    def only_note(train, seed, *settings):
        assert not train.factors
        seen.append(seed)
        return seed

    monkeypatch.setattr(mnist_restarts, "fitted", only_note)
    monkeypatch.setattr(mnist_restarts, "_accuracy", lambda model, test: 10.0 * (model % RESTARTS))
    scores = {"bound": [0.0, 1.0], "udr": [1.0, 0.0], "model_centrality": [0.0, 1.0]}
    monkeypatch.setattr(mnist_restarts, "_label_free_scores", lambda models, train: scores)
    smoke = {key: value for key, value in cases("smoke")[0].items() if key != "row"}
    for seed in range(3):
        found = mnist_restarts.run(smoke, seed, None)
        assert {found["bound"], found["udr"]} == {found["worst"], found["best"]}
    assert len(set(seen)) == len(seen) == 3 * smoke["restarts"]
