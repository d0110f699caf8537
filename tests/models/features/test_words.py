"""Words: tf-idf of words and of the letters in them."""

import numpy as np
import torch

from tests.models.features.test_features import items
from unknot.data.text_dataset import from_texts
from unknot.models.features.words import Words, as_scipy

TEXTS = ["red car", "red cars", "blue boat", "blue boats"]


def test_words_that_share_letters_are_near() -> None:
    data = from_texts(TEXTS, {"kind": [0, 0, 1, 1]})
    features = Words.for_data(data)
    rows = features.linear_inputs(items(data), torch.zeros(0)).to_dense()
    words, grams = rows[:, : features.words], rows[:, features.words :]
    for part in (words, grams):
        torch.testing.assert_close(part.norm(dim=1), torch.ones(4))
    assert (words @ words.T)[0, 1] < (grams @ grams.T)[0, 1]  # car and cars
    assert (grams @ grams.T)[0, 2] < 0.1


def test_ngrams_of_counts_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    data = from_texts(TEXTS)
    features = Words.for_data(data)
    rows = features.linear_inputs(items(data), torch.zeros(0)).to_dense()[:, features.words :]
    usual = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=2).fit(data.columns)
    counts = torch.from_numpy(usual.fit(data.columns).transform(TEXTS).toarray() > 0)
    assert torch.equal((rows > 0).sum(1), counts.sum(1))


def test_a_text_without_known_words_has_zeros() -> None:
    data = from_texts(TEXTS)
    features = Words.for_data(data)
    new = from_texts(["red", "nothing"], counter=data.counter)
    assert not features(items(new))[1].any()
    assert features(items(new))[0].any()


def test_a_vocabulary_without_common_letters_has_words_alone() -> None:
    data = from_texts(["ab", "cd", "ab cd"])
    features = Words.for_data(data)
    assert features.grams == 0
    assert features(items(data)).isfinite().all()


def test_scipy_has_the_same_numbers() -> None:
    rows = torch.tensor([[0.0, 2.0], [1.0, 0.0]])
    assert np.array_equal(as_scipy(rows.to_sparse()).toarray(), rows.numpy())
