"""NPMI against a count by hand, document by document."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from experiments.topics.topic_coherence import npmi, top_words


def slow_npmi(words: list[int], documents: list[set[int]]) -> float:
    """One topic, one pair of words at a time."""
    scores = []
    for v, w in combinations(words, 2):
        both = sum(v in d and w in d for d in documents) / len(documents)
        if both == 0:
            scores.append(-1.0)
        elif both == 1:
            scores.append(0.0)
        else:
            ones = [sum(u in d for d in documents) / len(documents) for u in (v, w)]
            scores.append(math.log(both / (ones[0] * ones[1])) / -math.log(both))
    return sum(scores) / len(scores)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_count_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (12, 9)) * (rng.random((12, 9)) < 0.5)
    counts[:, 3], counts[:, 5] = 0, 1  # a word that is nowhere, one that is everywhere
    topics = np.stack([rng.permutation(9)[:4] for _ in range(3)])
    documents = [set(np.flatnonzero(row).tolist()) for row in counts]
    by_hand = [slow_npmi(row, documents) for row in topics.tolist()]
    np.testing.assert_allclose(npmi(topics, counts), by_hand)
    np.testing.assert_allclose(npmi(topics, sparse.csr_matrix(counts)), by_hand)


def test_ends_of_the_scale() -> None:
    always_together = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    assert npmi(np.array([[0, 1]]), always_together) == pytest.approx(1.0)
    assert npmi(np.array([[0, 2]]), always_together) == pytest.approx(-1.0)
    independent = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    assert npmi(np.array([[0, 1]]), independent) == pytest.approx(0.0)


def test_top_words_come_in_order() -> None:
    assert top_words(np.array([[0.1, 0.7, 0.2], [3.0, 0.0, 1.0]]), 2).tolist() == [[1, 2], [0, 2]]
