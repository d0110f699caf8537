"""What a user would do instead of a topic model."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.topics.topic_baselines import BASELINES, baseline_numbers
from experiments.topics.topic_corpus import corpus, halves


def test_word_frequencies_have_perplexities_by_hand() -> None:
    made = corpus("made")
    numbers = baseline_numbers(BASELINES["unigram"](made, 4, 0, 0), made)
    shares = made.matrix("train").toarray().sum(0) + 0.5
    logs = np.log(shares / shares.sum())
    test, second = made.matrix("test").toarray(), halves(made.test)[1].x[:].numpy()
    assert numbers["per_token"] == pytest.approx(np.exp(-(test @ logs).sum() / test.sum()))
    assert numbers["per_document"] == pytest.approx(np.exp((-(test @ logs) / test.sum(1)).mean()))
    assert numbers["completion"] == pytest.approx(np.exp(-(second @ logs).sum() / second.sum()))


def test_topics_beat_word_frequencies_on_documents_of_topics() -> None:
    made = corpus("made")
    plain = baseline_numbers(BASELINES["unigram"](made, 4, 0, 0), made)["completion"]
    found = baseline_numbers(BASELINES["online LDA"](made, 4, 0, 20), made)
    assert found["completion"] < 0.8 * plain
    assert 0 < found["diversity"] <= 1


def test_gibbs_lda_does_too() -> None:
    pytest.importorskip("tomotopy")
    made = corpus("made")
    plain = baseline_numbers(BASELINES["unigram"](made, 4, 0, 0), made)["completion"]
    assert baseline_numbers(BASELINES["Gibbs LDA"](made, 4, 0, 100), made)["completion"] < 0.8 * plain
