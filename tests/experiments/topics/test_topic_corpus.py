"""Documents of the topic experiments."""

from __future__ import annotations

import numpy as np

from experiments.topics.topic_corpus import corpus, halves


def test_halves_are_the_document_again_and_always_the_same() -> None:
    test = corpus("made").test
    first, second = halves(test)
    np.testing.assert_array_equal(first.x[:] + second.x[:], test.x[:])
    assert 0 < int(first.x[:].sum()) < int(test.x[:].sum())
    np.testing.assert_array_equal(halves(test)[0].x[:], first.x[:])


def test_counts_of_both_parts() -> None:
    made = corpus("made")
    assert made.matrix("both").shape[0] == made.matrix("train").shape[0] + made.matrix("test").shape[0]
    assert len(made.words) == made.matrix("test").shape[1]
