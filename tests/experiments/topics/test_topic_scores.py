"""Numbers of topic models, on models whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.topics.topic_corpus import corpus, halves
from experiments.topics.topic_model import TopicModel
from experiments.topics.topic_scores import (
    Topics,
    completion,
    mean_correlations,
    perplexities,
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
