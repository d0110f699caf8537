"""The rank correlation of mnist-restarts against a count of pairs, and seeds that no two sets of restarts share."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.digits import mnist_restarts
from experiments.digits.mnist_restarts import RESTARTS, _class_agreement, _rank_correlation, cases
from experiments.ledger.codes import CLASS
from unknot.metrics import Probabilities
from unknot.workflow.codes import Codes


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
    scores = {"bound": [0.0, 1.0], "udr": [1.0, 0.0]}
    monkeypatch.setattr(mnist_restarts, "_label_free_scores", lambda models, train: scores)
    smoke = {key: value for key, value in cases("smoke")[0].items() if key != "row"}
    for seed in range(3):
        found = mnist_restarts.run(smoke, seed, None)
        assert {found["bound"], found["udr"]} == {found["worst"], found["best"]}
    assert len(set(seen)) == len(seen) == 3 * smoke["restarts"]


def test_classes_that_two_restarts_share_agree_whatever_their_names():
    truth = np.arange(300) % 3
    renamed, other = (truth + 1) % 3, np.arange(300) // 100
    restarts = [Codes({CLASS: Probabilities(np.eye(3)[classes])}) for classes in (truth, renamed, other)]
    first, second, odd = _class_agreement(restarts)
    assert first == second == pytest.approx(0.5, abs=1e-3)
    assert odd == pytest.approx(0.0, abs=1e-3)
