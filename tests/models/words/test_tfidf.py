"""Counts of words weighed by tf-idf within a model."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.data.word_counter import WordCounter
from unknot.errors import DataError, SpecError
from unknot.models.spec import read_spec
from unknot.models.words.tfidf import LENGTH, WordWeights, refuse_fractions

COUNTS = np.random.default_rng(0).poisson(0.4, (50, 30))
COUNTS[7] = 0  # a document without words


def _data() -> Dataset:
    return Dataset("counts", SparseCounts.from_scipy(sparse.csr_matrix(COUNTS)), torch.arange(len(COUNTS)))


def _prepared() -> WordWeights:
    weigh = WordWeights(COUNTS.shape[1], length=3.0)
    weigh.prepare(_data())
    return weigh


def test_dense_and_sparse_are_what_scikit_learn_makes_of_them() -> None:
    expected = 3.0 * TfidfTransformer(sublinear_tf=True).fit_transform(COUNTS).toarray()
    dense = _prepared()(torch.tensor(COUNTS, dtype=torch.float32))
    thin = _prepared()(_data().batch(torch.arange(len(COUNTS))).x)
    assert thin.is_sparse
    np.testing.assert_allclose(dense.numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(thin.to_dense().numpy(), expected, atol=1e-5)


def test_the_weights_are_those_of_the_training_documents() -> None:
    weigh = _prepared()
    again = WordWeights(COUNTS.shape[1], length=3.0)
    again.load_state_dict(weigh.state_dict())
    one = torch.tensor(COUNTS[:1], dtype=torch.float32)
    torch.testing.assert_close(again(one), weigh(torch.tensor(COUNTS, dtype=torch.float32))[:1])


def test_only_words_are_weighed() -> None:
    nodes = {
        "z": {"family": "normal", "size": 2, "inferred_from": ["x"]},
        "x": {"family": {"name": "bernoulli", "weights": "tfidf"}, "parents": ["z"]},
    }
    with pytest.raises(SpecError, match="'bernoulli' has no option 'weights'"):
        read_spec({"nodes": nodes})


def test_documents_are_as_long_as_those_of_texts() -> None:
    texts = ["moon sun moon", "sun", "moon stars"]
    weighed = WordCounter.learn(texts, weights="tfidf").count(texts)[:]
    assert weighed.norm(dim=-1).tolist() == pytest.approx([LENGTH] * 3)


def test_numbers_that_are_no_counts_are_refused() -> None:
    refuse_fractions(torch.tensor([[2, 0]]))
    refuse_fractions(torch.tensor([[2.0, 0.0]]))
    with pytest.raises(DataError, match=r"x holds 0\.25, .* give whole numbers"):
        refuse_fractions(torch.tensor([[2.0, 0.25]]))
    shares = Dataset("shares", torch.tensor(COUNTS, dtype=torch.float32) / 3, torch.arange(len(COUNTS)))
    with pytest.raises(DataError, match="counts of words"):
        WordWeights(COUNTS.shape[1]).prepare(shares)
