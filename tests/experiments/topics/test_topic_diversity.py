"""Topic diversity and duplicates."""

import numpy as np
import pytest

from experiments.topics.topic_diversity import duplicate_topics, topic_diversity


def test_diversity_is_the_share_of_different_words() -> None:
    assert topic_diversity(np.array([[0, 1], [2, 3]])) == 1.0
    assert topic_diversity(np.array([[0, 1], [1, 0], [0, 1]])) == pytest.approx(1 / 3)
    assert topic_diversity(np.array([[0, 1], [1, 2]])) == 0.75


def test_duplicates_are_counted_once_each() -> None:
    topics = np.array([[0, 1, 2], [2, 1, 9], [5, 6, 7], [0, 2, 1]])
    assert duplicate_topics(topics) == 2  # the second and the last are like the first
    assert duplicate_topics(topics, shared=0.7) == 1
    assert duplicate_topics(topics[:1]) == 0
