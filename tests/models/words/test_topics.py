"""Networks of topic models."""

from __future__ import annotations

import pytest
import torch
from torch import Size
from torch.distributions import Dirichlet

from tests.models.words.test_counts import counts
from unknot.errors import SpecError
from unknot.models.words.counts import word_log_likelihood
from unknot.models.words.topics import (
    Narrowed,
    TopicDecoder,
    TopicTrunk,
    laplace_spread,
    topic_head,
)


def test_a_trunk_reads_sparse_and_dense_alike() -> None:
    trunk = TopicTrunk(Size((7,)), (4, 3), word_dropout=0.5).eval()
    torch.testing.assert_close(trunk(counts()), trunk(counts().to_sparse()))
    trunk.train()
    assert trunk(counts().to_sparse()).shape == (5, 3)


@pytest.mark.parametrize("sparse", [False, True])
def test_word_dropout_leaves_out_words_and_keeps_the_mean(sparse: bool) -> None:
    torch.manual_seed(0)
    trunk = TopicTrunk(Size((7,)), (2,), word_dropout=0.5)
    x = torch.ones(2000, 7)
    seen = trunk._thinned(x.to_sparse() if sparse else x)
    seen = seen.to_dense() if sparse else seen
    assert set(seen.unique().tolist()) == {0.0, 2.0}
    assert abs(float(seen.mean()) - 1) < 6 / 14000**0.5  # six standard errors of 14,000 fair coins


def test_a_head_is_standard_in_a_batch() -> None:
    made = topic_head(4, 6)(torch.randn(50, 4))
    torch.testing.assert_close(made.mean(0), torch.zeros(6), atol=1e-5, rtol=0)
    torch.testing.assert_close(made.std(0, correction=0), torch.ones(6), atol=1e-3, rtol=0)


def test_a_head_is_narrower_under_a_wider_prior() -> None:
    x = torch.randn(50, 6, dtype=torch.float64)
    (loc, raw), (narrow, narrow_raw) = x.chunk(2, -1), Narrowed(0.25)(x).chunk(2, -1)
    torch.testing.assert_close(narrow, loc / 2)
    torch.testing.assert_close(narrow_raw.exp().log1p(), raw.exp().log1p() / 2)
    assert topic_head(4, 6, 0.25)(torch.randn(2, 50, 4)).shape == (2, 50, 6)


def test_a_mixture_mixes_distributions() -> None:
    decoder = TopicDecoder(2, 3, "mixture")
    z = torch.tensor([[0.0, 0.0], [30.0, 0.0]])
    shares = decoder(z).softmax(-1)
    first, second = (decoder.words.weight.T + decoder.bias).softmax(-1)
    torch.testing.assert_close(shares, torch.stack([(first + second) / 2, first]))


def test_a_product_multiplies_them() -> None:
    decoder = TopicDecoder(2, 3, "product").eval()  # batch norm at its start: nothing but a factor near one
    z = torch.tensor([[0.0, 0.0]])
    by_hand = (decoder.words.weight.T.softmax(-1).log().mean(0)).softmax(-1)  # the geometric mean
    torch.testing.assert_close(decoder(z).softmax(-1)[0], by_hand, rtol=1e-4, atol=1e-4)


def test_weights_of_topics_are_what_logits_are_made_of() -> None:
    decoder = TopicDecoder(2, 3, "product")
    decoder(torch.randn(50, 2))  # the norm learns a scale
    decoder.eval()
    shares = torch.tensor([[0.25, 0.75]])
    moved = decoder(shares.log()) - decoder(torch.zeros(1, 2))
    torch.testing.assert_close(moved, (shares - 0.5) @ decoder.topic_weights())


def test_linear_topics_add_up() -> None:
    decoder = TopicDecoder(2, 3, "linear")
    by_hand = 0.5 * decoder.words.weight[:, 0] - decoder.words.weight[:, 1]
    torch.testing.assert_close(decoder(torch.tensor([[0.5, -1.0]]))[0], by_hand)
    assert decoder(torch.randn(4, 5, 2)).shape == (4, 5, 3)


def test_without_scale_it_is_not_learned() -> None:
    learned = [p for p in TopicDecoder(2, 3, "product", scale=False).parameters() if p.requires_grad]
    assert len(learned) == 2  # the topics and the norm's shift
    with pytest.raises(SpecError, match="mixed as product, mixture, linear"):
        TopicDecoder(2, 3, "sum")


def test_likelihoods_of_counts_are_those_of_the_logits() -> None:
    decoder, z, x = TopicDecoder(2, 7, "linear"), torch.randn(5, 2), counts().to_sparse()
    torch.testing.assert_close(decoder.log_likelihood(z, x), word_log_likelihood(decoder(z), x))


def test_the_laplace_approximation_has_the_curvature_of_the_dirichlet() -> None:
    """In the basis of the softmax the log density is sum_k a log softmax(z)_k; its curvature at 0, inverted."""
    topics, concentration = 5, 0.7
    z = torch.zeros(topics, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(
        lambda one: concentration * one.log_softmax(-1).sum(), z
    )  # of rank K - 1: shifts of z change nothing
    spread = torch.linalg.pinv(-hessian).diagonal().sqrt()
    torch.testing.assert_close(spread, torch.full_like(spread, laplace_spread(concentration, topics)))
    narrow, wide = TopicDecoder(5, 7, "mixture"), TopicDecoder(5, 7, "mixture", concentration)
    wide.load_state_dict(narrow.state_dict())
    z = torch.randn(3, 5)
    torch.testing.assert_close(wide(z), narrow(z * spread[0].float()))
    with pytest.raises(SpecError, match="linear topics have none"):
        TopicDecoder(5, 7, "linear", concentration)
    assert Dirichlet(torch.full((5,), 0.7)).mean.tolist() == pytest.approx(
        [0.2] * 5
    )  # softmax(0), its mode here
