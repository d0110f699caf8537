"""Topic diversity: whether topics have words of their own."""

from __future__ import annotations

import numpy as np


def topic_diversity(top_words: np.ndarray) -> float:
    """Share of different words among the top words ``(K, T)`` of all topics (Dieng et al. 2020); T is 25 as a rule.

    One means that no two topics share a word, 1/K that all are the same.
    """
    words = np.asarray(top_words)
    return len(np.unique(words)) / words.size


def duplicate_topics(top_words: np.ndarray, shared: float = 0.5) -> int:
    """How many topics share more than ``shared`` of their top words ``(K, T)`` with an earlier topic."""
    sets = [set(row) for row in np.asarray(top_words).tolist()]
    size = np.shape(top_words)[1]
    return sum(any(len(one & other) > shared * size for other in sets[:k]) for k, one in enumerate(sets))
