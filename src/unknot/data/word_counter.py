"""WordCounter: from texts to counts of words, by scikit-learn's vectorizer; kept with a model as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError
from unknot.suggest import did_you_mean

Weights = Literal["counts", "tfidf"]
OPTIONS = ("max_features", "min_df", "max_df", "stop_words", "token_pattern", "lowercase", "ngram_range")
_FEW = 100  # of fewer texts every word is kept, however rare or common


@dataclass(frozen=True)
class WordCounter:
    """The words that are counted, and how texts are cut into words.

    * ``words``: the vocabulary, in the order of the columns of the counts;
    * ``options``: those of scikit-learn's ``CountVectorizer`` that say what a word is (:data:`OPTIONS`);
    * ``weights``: "counts"; or "tfidf", where c occurrences of a word count as (1 + log c) times its idf, and every
      document is brought to the Euclidean length ``length``: common words and long documents count less;
    * ``idf``: of "tfidf", one number a word.
    """

    words: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    weights: Weights = "counts"
    length: float = 5.0
    idf: tuple[float, ...] = ()

    @classmethod
    def learn(
        cls, texts: Sequence[str], *, weights: Weights = "counts", length: float = 5.0, **options: Any
    ) -> WordCounter:
        """The vocabulary of some texts.

        Without other ``options``: the 5,000 commonest words of at least two letters, in lower case, without English
        stop words; of a hundred texts or more, words of one text alone are left out, and words of more than half.
        """
        if weights not in get_args(Weights):
            raise DataError(f"text: weights are {' or '.join(get_args(Weights))}, not {weights!r}.")
        for name in options:
            if name not in OPTIONS:
                raise DataError(f"text: there is no option '{name}'; {did_you_mean(name, OPTIONS)}")
        chosen = {**_defaults(len(texts)), **options}
        counter = _vectorizer(chosen)
        try:
            counts = counter.fit_transform(texts)
        except (
            ValueError,
            TypeError,
        ) as error:  # scikit-learn's words: no vocabulary is left, or a wrong option
            raise DataError(f"text: the words cannot be counted: {error}.") from None
        words = tuple(counter.get_feature_names_out().tolist())
        kept = {name: v for name, v in chosen.items() if name not in ("max_features", "min_df", "max_df")}
        idf = _idf(counts) if weights == "tfidf" else ()
        return cls(words, kept, weights, float(length), idf)

    def count(self, texts: Sequence[str]) -> SparseCounts:
        """The counts (or weights) of the words of texts, ``(N, V)``; words outside the vocabulary are left out."""
        counts = _vectorizer({**self.options, "vocabulary": self.words}).transform(texts)
        return self.weighted(SparseCounts.from_scipy(counts))

    def weighted(self, counts: SparseCounts) -> SparseCounts:
        """Counts as they enter a model: as they are, or by tf-idf."""
        if self.weights == "counts":
            return counts
        matrix = counts.to_scipy().astype(np.float32)
        matrix.data = (1 + np.log(matrix.data)) * np.asarray(self.idf, np.float32)[matrix.indices]
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
        matrix.data *= np.repeat(self.length / np.maximum(lengths, 1e-9), np.diff(matrix.indptr))
        return SparseCounts.from_scipy(matrix)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, for a JSON file; the words themselves are the data set's columns."""
        return {
            "options": dict(self.options),
            "weights": self.weights,
            "length": self.length,
            "idf": list(self.idf),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], words: Sequence[str]) -> WordCounter:
        """The counter that :meth:`to_dict` describes."""
        return cls(tuple(words), dict(told["options"]), told["weights"], told["length"], tuple(told["idf"]))


def _defaults(texts: int) -> dict[str, Any]:
    return {
        "max_features": 5000,
        "min_df": 1 if texts < _FEW else 2,
        "max_df": 1.0 if texts < _FEW else 0.5,
        "stop_words": "english",
        "token_pattern": r"(?u)\b[^\W\d_][^\W\d_]+\b",
    }


def _vectorizer(options: Mapping[str, Any]) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    given = dict(options)
    if "ngram_range" in given:
        given["ngram_range"] = tuple(given["ngram_range"])  # a list, as files have it
    return CountVectorizer(**given)


def _idf(counts: Any) -> tuple[float, ...]:
    """log((1 + N) / (1 + documents with the word)) + 1, as scikit-learn has it."""
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    found = np.log((1 + counts.shape[0]) / (1 + documents)) + 1
    return tuple(round(float(one), 6) for one in found)
