"""Average ranks, against scipy's, and the critical difference, against Demšar's example."""

import numpy as np
import pytest
from scipy.stats import rankdata

from experiments.tables.rank_diagram import average_ranks, critical_difference, rank_diagram


def test_ranks_are_scipys() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (12, 5)).astype(float)
    np.testing.assert_allclose(average_ranks(scores), rankdata(-scores, axis=1).mean(0))


def test_the_critical_difference_of_demsars_example() -> None:
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


def test_the_best_stands_first() -> None:
    scores = np.array([[1.0, 3.0, 2.0], [1.0, 5.0, 2.0]])
    figure = rank_diagram(scores, ["bad", "good", "fair"], "a group", {"good": " (5)"})
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["good (5)", "fair", "bad"]
