"""Counting words: scikit-learn's own answers, kept as plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from unknot.data.word_counter import WordCounter
from unknot.errors import DataError

TEXTS = ["The moon and the moon again", "A rocket to the moon", "A car, an engine, 2 cars", ""]


def test_words_and_counts_are_scikit_learns() -> None:
    counter = WordCounter.learn(TEXTS, stop_words=None)
    known = CountVectorizer(token_pattern=r"(?u)\b[^\W\d_][^\W\d_]+\b").fit(TEXTS)
    assert counter.words == tuple(known.get_feature_names_out())
    np.testing.assert_array_equal(counter.count(TEXTS)[:].numpy(), known.transform(TEXTS).toarray())


def test_the_usual_choice_leaves_out_stop_words_and_numbers() -> None:
    assert WordCounter.learn(TEXTS).words == ("car", "cars", "engine", "moon", "rocket")


def test_of_many_texts_words_of_one_and_of_most_are_left_out() -> None:
    texts = [f"always {'moon' if i % 3 == 0 else 'car'} {'once' if i == 7 else ''}" for i in range(120)]
    assert WordCounter.learn(texts).words == ("moon",)  # cars are in two thirds
    assert WordCounter.learn(texts, max_df=0.9).words == ("car", "moon")


def test_tfidf_is_scikit_learns_times_the_length() -> None:
    counter = WordCounter.learn(TEXTS, stop_words=None, weights="tfidf", length=5.0)
    known = TfidfVectorizer(token_pattern=r"(?u)\b[^\W\d_][^\W\d_]+\b", sublinear_tf=True).fit(TEXTS)
    np.testing.assert_allclose(
        counter.count(TEXTS)[:].numpy(), 5 * known.transform(TEXTS).toarray(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("options", [{}, {"weights": "tfidf"}, {"ngram_range": [1, 2], "lowercase": False}])
def test_a_counter_comes_back_from_json(options: dict[str, object]) -> None:
    counter = WordCounter.learn(TEXTS, **options)  # type: ignore[arg-type]
    again = WordCounter.from_dict(json.loads(json.dumps(counter.to_dict())), counter.words)
    assert again == counter
    new = ["moon rocket engine of the unseen", "The moon"]
    np.testing.assert_array_equal(again.count(new)[:].numpy(), counter.count(new)[:].numpy())


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(DataError, match="there is no option 'max_words'"):
        WordCounter.learn(TEXTS, max_words=3)
    with pytest.raises(DataError, match="weights are counts or tfidf"):
        WordCounter.learn(TEXTS, weights="bm25")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="the words cannot be counted: empty vocabulary"):
        WordCounter.learn(["the", "and"])
