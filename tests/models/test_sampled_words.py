"""The sampled normalizer: exact where all words are drawn, right on average elsewhere, its bias as predicted."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from tests.models.test_word_networks import counts
from unknot.models.sampled_words import WordSample, sampled_log_likelihood
from unknot.models.word_networks import word_log_likelihood


def batch() -> Tensor:
    x = torch.zeros(2, 8, dtype=torch.float64)
    x[0, 1], x[1, 1], x[1, 6] = 2.0, 1.0, 3.0
    return x.to_sparse()


def test_a_sample_holds_the_words_of_the_batch_and_some_others_once() -> None:
    torch.manual_seed(0)
    sample = WordSample.draw(batch(), 3)
    assert sample.columns[:2].tolist() == [1, 6]
    assert len(set(sample.columns.tolist())) == 5
    assert sample.columns[sample.places].tolist() == batch().indices()[1].tolist()
    torch.testing.assert_close(sample.log_weights.exp(), torch.tensor([1.0, 1.0, 2.0, 2.0, 2.0]))


def test_with_all_words_it_is_exact() -> None:
    x, logits = counts().double().to_sparse(), torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    found = sampled_log_likelihood(lambda columns: logits[..., columns], x, 7)
    exact = word_log_likelihood(logits, x)
    torch.testing.assert_close(found, exact)
    for one, two in zip(
        torch.autograd.grad(found.sum(), logits), torch.autograd.grad(exact.sum(), logits), strict=True
    ):
        torch.testing.assert_close(one, two)


def test_a_batch_without_words() -> None:
    x, logits = torch.zeros(2, 4).to_sparse(), torch.randn(2, 4)
    found = sampled_log_likelihood(lambda columns: logits[..., columns], x, 2)
    torch.testing.assert_close(found, torch.zeros(2))


def test_the_sum_is_right_on_average_and_the_likelihood_too_high() -> None:
    """Every sample of three of the six absent words, once: the mean of exp of the estimated normalizer is the sum."""
    logits = torch.linspace(-1, 1, 8, dtype=torch.float64).expand(2, 8)
    x = batch()
    exact = word_log_likelihood(logits, x)
    others = [0, 2, 3, 4, 5, 7]
    present = logits[0, [1, 6]].exp().sum()
    sums = torch.stack([present + 2 * logits[0, list(c)].exp().sum() for c in combinations(others, 3)])
    torch.testing.assert_close(sums.mean(), logits[0].exp().sum())
    expected = exact - torch.tensor([2.0, 4.0]) * (sums.log().mean() - logits[0].logsumexp(0))
    assert bool((expected > exact).all())

    torch.manual_seed(0)
    drawn = torch.stack([sampled_log_likelihood(lambda c: logits[..., c], x, 3) for _ in range(400)])
    error = drawn.std(0) / 400**0.5
    assert bool(
        ((drawn.mean(0) - expected).abs() < 5 * error).all()
    )  # five standard errors: one in a million
