"""Mixtures of topics as a description; equal to the Trace program in test_product_topics.py."""

import torch

import unknot
from tests.models.likelihoods.test_product_topics import described


def test_words_are_a_mean_of_the_topics() -> None:
    model = described("mixture_topics", {"topics": 2}).eval()
    topics = model.expected_data(unknot.given(2, {"topics": torch.tensor([[40.0, 0.0], [0.0, 40.0]])}))
    mixed = model.expected_data(unknot.given(1, {"topics": torch.zeros(1, 2)}))
    torch.testing.assert_close(mixed[0], topics.mean(0))
