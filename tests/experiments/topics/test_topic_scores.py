"""Numbers of topic models, on models whose numbers are known."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy import sparse

from experiments.topics.topic_corpus import corpus, halves
from experiments.topics.topic_model import TopicModel
from experiments.topics.topic_scores import (
    Topics,
    completion,
    duplicate_topics,
    mean_correlations,
    npmi,
    perplexities,
    top_words,
    topic_diversity,
    topic_numbers,
    topics_of,
)


def blind_model(shares: np.ndarray) -> TopicModel:
    """A model whose topics say nothing: words have the same shares in every document, q is the prior."""
    model = TopicModel(len(shares), {"topics": 2}, "linear", hidden=(3,)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        assert model.decoder.bias is not None
        model.decoder.bias.copy_(torch.from_numpy(np.log(shares)))
        head = model.heads["topics"]
        assert isinstance(head, torch.nn.Linear)
        head.bias[2:] = float(np.log(np.expm1(1 - 1e-3)))  # softplus gives a width of one
    return model


def test_of_a_blind_model_all_three_perplexities_are_known() -> None:
    made = corpus("made")
    counts = made.matrix("test").toarray().astype(float)
    shares = np.random.default_rng(0).dirichlet(np.ones(counts.shape[1]))
    model = blind_model(shares)
    each = counts @ np.log(shares)
    found = perplexities(model, made.test)
    assert found["per_document"] == pytest.approx(np.exp((-each / counts.sum(1)).mean()), rel=1e-3)
    assert found["per_token"] == pytest.approx(np.exp(-each.sum() / counts.sum()), rel=1e-3)
    hidden = halves(made.test)[1].x[:].numpy().astype(float)
    by_hand = np.exp(-(hidden @ np.log(shares)).sum() / hidden.sum())
    assert completion(model, made.test) == pytest.approx(by_hand, rel=1e-3)
    topics = topics_of(model, made.test)
    assert not topics.active.any()
    numbers = topic_numbers(topics, made)
    assert numbers["active"] == numbers["npmi_active"] == numbers["between"] == 0
    assert not any(np.isnan(value) for value in numbers.values())


def test_correlations_within_and_between_groups() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4000))
    means = np.stack([a, b, a + 0.1 * rng.normal(size=4000), rng.normal(size=4000)], 1)
    words = np.zeros((4, 25), int)
    topics = Topics(words, words, np.array([1.0, 1.0, 1.0, 0.0]), means, np.array([0, 0, 1, 1]))
    within, between = mean_correlations(topics)  # the last topic is not active
    assert within < 0.1
    assert between == pytest.approx(0.5, abs=0.05)  # of 1-3 and 2-3


# ---- Topic diversity and duplicates ----------------------------------------------------------------------


def test_diversity_is_the_share_of_different_words() -> None:
    assert topic_diversity(np.array([[0, 1], [2, 3]])) == 1.0
    assert topic_diversity(np.array([[0, 1], [1, 0], [0, 1]])) == pytest.approx(1 / 3)
    assert topic_diversity(np.array([[0, 1], [1, 2]])) == 0.75


def test_duplicates_are_counted_once_each() -> None:
    topics = np.array([[0, 1, 2], [2, 1, 9], [5, 6, 7], [0, 2, 1]])
    assert duplicate_topics(topics) == 2  # the second and the last are like the first
    assert duplicate_topics(topics, shared=0.7) == 1
    assert duplicate_topics(topics[:1]) == 0


# ---- NPMI against a count by hand, document by document --------------------------------------------------


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
