"""TextDataset: documents as counts of their words, with their texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from unknot.data.dataset import Dataset, training_rows
from unknot.data.factor import DeclaredKind
from unknot.data.label_column import Classes, read_factor
from unknot.data.word_counter import WordCounter
from unknot.errors import DataError, UnknotWarning

LONGEST = 120  # characters of an excerpt
LIKELY = 10  # words that describe a document


def excerpt(data: Dataset, row: int) -> str:
    """Return the beginning of the text of an item; of counts without a text, its commonest words."""
    if isinstance(data, TextDataset) and data.texts:
        text = " ".join(data.texts[row].split())
        return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " ..."
    counts = data.x[torch.tensor([row])].numpy()
    return str(likely_words(data.columns, counts)[0])


def likely_words(vocabulary: Sequence[str], rows: np.ndarray, count: int = LIKELY) -> np.ndarray:
    """Return the ``count`` likeliest words of each row ``(..., V)`` in one string, without words of weight 0.

    >>> likely_words(["film", "good", "moon"], np.array([[0.1, 0.7, 0.2], [3.0, 0.0, 0.0]]), 2).tolist()
    ['good moon', 'film']
    """
    flat = rows.reshape(-1, rows.shape[-1])
    best = np.argsort(-flat, axis=1, kind="stable")[:, :count]
    texts = [
        " ".join(vocabulary[word] for word in order if weights[word] > 0)
        for order, weights in zip(best, flat, strict=True)
    ]
    return np.array(texts, dtype=object).reshape(rows.shape[:-1])


@dataclass(frozen=True, repr=False)
class TextDataset(Dataset):
    """A Dataset of word counts that keeps the text of each item.

    Parameters
    ----------
    name, x, ids, factors, splits, licence, columns, table, odd_rows, resized_from, given
        As for :class:`Dataset`; ``columns`` are the words, ``table`` is empty.
    texts : tuple of str
        One per item.
    counter : WordCounter, optional
        How texts became counts, for new texts.
    """

    texts: tuple[str, ...] = ()
    counter: WordCounter | None = None

    def subset(self, rows: torch.Tensor | Sequence[int]) -> TextDataset:
        chosen = super().subset(rows)
        positions = torch.arange(len(self))[torch.as_tensor(rows).cpu()].tolist()
        assert isinstance(chosen, TextDataset)
        return replace(chosen, texts=tuple(self.texts[row] for row in positions) if self.texts else ())


def from_texts(
    texts: Sequence[str],
    factors: Mapping[str, Any] | None = None,
    *,
    kinds: Mapping[str, DeclaredKind] | None = None,
    classes: Mapping[str, Classes] | None = None,
    splits: Mapping[str, Sequence[int]] | None = None,
    counter: WordCounter | None = None,
    options: Mapping[str, Any] | None = None,
    name: str = "texts",
) -> TextDataset:
    """Make a data set from texts.

    Parameters
    ----------
    texts : sequence of str
        One per item.
    factors, kinds, classes
        Labels, as for :func:`unknot.data.from_arrays`.
    splits : mapping from name to rows, optional
        The vocabulary is learned from the split "train", if there is one.
    counter : WordCounter, optional
        How words are counted; default: learned from the texts.
    options : mapping, optional
        Options of :meth:`WordCounter.learn`: ``{"max_features": 2000}``. By default words are counted, but weighted by
        tf-idf if there are labels.
    name : str, default="texts"
        The name in messages.

    Returns
    -------
    TextDataset

    Examples
    --------
    >>> from_texts(["good film", "bad film"], {"liked": [True, False]}).columns
    ('bad', 'film', 'good')
    """
    texts = [_text(name, row, text) for row, text in enumerate(texts)]
    if not texts:
        raise DataError(f"{name}: there are no texts.")
    parts = {part: torch.as_tensor(rows, dtype=torch.int64) for part, rows in (splits or {}).items()}
    is_learned = counter is None
    if counter is None:
        known = [texts[row] for row in parts["train"].tolist()] if "train" in parts else texts
        defaults = {"weights": "tfidf"} if factors else {}
        counter = WordCounter.learn(known, **{**defaults, **dict(options or {})})
    training = training_rows(parts, len(texts))
    made = {
        label: read_factor(
            label, values, len(texts), (kinds or {}).get(label), (classes or {}).get(label), training
        )
        for label, values in (factors or {}).items()
    }
    ids = torch.arange(len(texts))
    counts = counter.count(texts)
    if not is_learned and not len(counts.words):
        warnings.warn(
            f"{name}: no text has a word of the vocabulary, so predictions do not depend on the texts.",
            UnknotWarning,
            stacklevel=2,
        )
    return TextDataset(
        name, counts, ids, made, parts, columns=counter.words, texts=tuple(texts), counter=counter
    )


def _text(name: str, row: int, text: Any) -> str:
    if not isinstance(text, str):
        raise DataError(f"{name}: item {row} is {text!r}, not a text; give '' for an empty one.")
    return text
