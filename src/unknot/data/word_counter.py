"""WordCounter: texts as counts of words, by scikit-learn's vectorizer; stored with a model as plain data."""

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
    """A vocabulary, and how texts are divided into words.

    Parameters
    ----------
    words : tuple of str
        The vocabulary, in the order of the columns of the counts.
    options : mapping
        Options of scikit-learn's ``CountVectorizer`` that define words (:data:`OPTIONS`).
    weights : {"counts", "tfidf"}
        With "tfidf", c occurrences of a word have the weight (1 + log c) times its idf, and every document is scaled
        to the Euclidean norm ``length``.
    length : float, default=5.0
        The norm of a document, with "tfidf".
    idf : tuple of float
        The inverse document frequency of each word, with "tfidf".
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
        """Learn the vocabulary of texts.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        weights, length
            As for the class.
        **options
            Options of ``CountVectorizer``. By default the 5,000 commonest words of at least two letters, in lower
            case, without English stop words; from 100 texts on without words that occur in one text only or in more
            than half of the texts.

        Returns
        -------
        WordCounter
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
        except (ValueError, TypeError) as error:  # no word is left, or an option is wrong
            raise DataError(f"text: the words cannot be counted: {error}.") from None
        words = tuple(counter.get_feature_names_out().tolist())
        kept = {name: v for name, v in chosen.items() if name not in ("max_features", "min_df", "max_df")}
        idf = _idf(counts) if weights == "tfidf" else ()
        return cls(words, kept, weights, float(length), idf)

    def count(self, texts: Sequence[str]) -> SparseCounts:
        """Return the counts (or weights) of words in texts, ``(N, V)``; words outside the vocabulary are ignored."""
        counts = _vectorizer({**self.options, "vocabulary": self.words}).transform(texts)
        return self.weighted(SparseCounts.from_scipy(counts))

    def weighted(self, counts: SparseCounts) -> SparseCounts:
        """Return counts as they are, or weighted by tf-idf."""
        if self.weights == "counts":
            return counts
        matrix = counts.to_scipy().astype(np.float32)
        matrix.data = (1 + np.log(matrix.data)) * np.asarray(self.idf, np.float32)[matrix.indices]
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
        matrix.data *= np.repeat(self.length / np.maximum(lengths, 1e-9), np.diff(matrix.indptr))
        return SparseCounts.from_scipy(matrix)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the words as plain data, for a JSON file; the words are the data set's columns."""
        return {
            "options": dict(self.options),
            "weights": self.weights,
            "length": self.length,
            "idf": list(self.idf),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], words: Sequence[str]) -> WordCounter:
        """Return the counter of which :meth:`to_dict` gave the ``content``."""
        idf = tuple(content["idf"])
        return cls(tuple(words), dict(content["options"]), content["weights"], content["length"], idf)


def words_of(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return the different words of each text, as a :class:`WordCounter` without options divides it.

    >>> [sorted(words) for words in words_of(["The gun, the guns!"])]
    [['gun', 'guns']]
    """
    find = _vectorizer(_defaults(len(texts))).build_analyzer()
    return [frozenset(find(text)) for text in texts]


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
    """Return log((1 + N) / (1 + number of documents with the word)) + 1, as scikit-learn does."""
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1 + counts.shape[0]) / (1 + documents)) + 1
    return tuple(round(float(value), 6) for value in idf)
