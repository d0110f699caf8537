"""Networks over words: a sparse batch gives what the dense one gives, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Size, Tensor
from torch.distributions import Multinomial

from unknot.models.words.counts import LARGE_VOCABULARY, CountTrunk, WordLayer, word_log_likelihood


def counts(documents: int = 5, words: int = 7) -> Tensor:
    torch.manual_seed(0)
    x = torch.randint(0, 4, (documents, words)) * (torch.rand(documents, words) < 0.4)
    x[2] = 0  # an empty document
    return x.float()


def test_a_layer_is_a_matrix_product() -> None:
    layer, x = WordLayer(7, 3), counts()
    for given in (x, x.to_sparse()):
        layer.zero_grad()
        made = layer(given)
        torch.testing.assert_close(made, x @ layer.weight + layer.bias)
        made.square().sum().backward()
        by_hand = 2 * x.T @ (x @ layer.weight + layer.bias).detach()
        assert layer.weight.grad is not None
        torch.testing.assert_close(layer.weight.grad, by_hand)


def test_gradients_of_a_large_vocabulary_hold_the_words_present() -> None:
    layer = WordLayer(LARGE_VOCABULARY, 2)
    x = torch.zeros(3, LARGE_VOCABULARY)
    x[0, 5], x[2, 5], x[2, 9] = 1.0, 2.0, 3.0
    layer(x.to_sparse()).sum().backward()
    assert layer.weight.grad is not None
    gradient = layer.weight.grad.coalesce()
    assert gradient.indices()[0].tolist() == [5, 9]
    assert gradient.values().tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("hidden", [[4], [4, 3], [4, 5, 3]])
def test_a_trunk_sees_logarithms(hidden: list[int]) -> None:
    trunk, x = CountTrunk(Size((7,)), hidden), counts()
    torch.testing.assert_close(trunk(x), trunk(x.to_sparse()))
    assert trunk(x).shape == (5, hidden[-1])
    one_more, twice = (
        trunk.words(torch.log1p(torch.ones(1, 7))),
        trunk.words(torch.log1p(3 * torch.ones(1, 7))),
    )
    torch.testing.assert_close(2 * (one_more - trunk.words.bias), twice - trunk.words.bias)  # log 4 = 2 log 2


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_scores_are_torchs_own(leading: tuple[int, ...]) -> None:
    x = counts()
    logits = torch.randn(*leading, 5, 7, dtype=torch.float64, requires_grad=True)
    gradients = []
    for given in (x, x.to_sparse()):
        found = word_log_likelihood(logits, given.double())
        assert found.shape == (*leading, 5)
        for index in torch.cartesian_prod(*map(torch.arange, (*leading, 5))).reshape(-1, len(leading) + 1):
            document = x[index[-1]]
            by_torch = Multinomial(int(document.sum()), logits=logits[tuple(index)]).log_prob(document)
            torch.testing.assert_close(found[tuple(index)], by_torch.double())
        gradients.append(torch.autograd.grad(found.sum(), logits)[0])
    torch.testing.assert_close(*gradients)


def test_probabilities_of_all_documents_of_a_length_add_up_to_one() -> None:
    """A law that shares nothing with torch's code: every bag of three of four words, once."""
    logits = torch.tensor([0.3, -1.0, 0.8, 0.0], dtype=torch.float64)
    bags = [b for b in torch.cartesian_prod(*[torch.arange(4)] * 4) if int(b.sum()) == 3]
    x = torch.stack(bags).double()
    assert len(x) == 20
    found = word_log_likelihood(logits.expand(20, 4), x.to_sparse())
    torch.testing.assert_close(found.exp().sum(), torch.ones((), dtype=torch.float64))
