"""TextDataset: documents as counts of their words, with their text; and how it is made from texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from unknot.data.dataset import Dataset, training_rows
from unknot.data.factor import Kind
from unknot.data.label_column import read_factor
from unknot.data.word_counter import WordCounter
from unknot.errors import DataError, UnknotWarning

# ---- The beginning of a document, for tables that people read --------------------------------------------

LONGEST = 120  # characters


def excerpt(data: Dataset, row: int) -> str:
    """How the text of an item begins; of counts without a text, its commonest words."""
    if isinstance(data, TextDataset) and data.texts:
        text = " ".join(data.texts[row].split())
        return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " ..."
    counts = data.x[torch.tensor([row])].numpy()
    return str(likely_words(data.columns, counts)[0])


# ---- Rows of shares or counts of words as the words themselves: the most likely first --------------------

LIKELY = 10  # words that stand for a document


def likely_words(vocabulary: Sequence[str], rows: np.ndarray, count: int = LIKELY) -> np.ndarray:
    """The ``count`` likeliest words of each row ``(..., V)``, in one string; words of no weight are left out.

    >>> likely_words(["film", "good", "moon"], np.array([[0.1, 0.7, 0.2], [3.0, 0.0, 0.0]]), 2).tolist()
    ['good moon', 'film']
    """
    flat = rows.reshape(-1, rows.shape[-1])
    best = np.argsort(-flat, axis=1, kind="stable")[:, :count]
    spoken = [
        " ".join(vocabulary[word] for word in order if weights[word] > 0)
        for order, weights in zip(best, flat, strict=True)
    ]
    return np.array(spoken, dtype=object).reshape(rows.shape[:-1])


@dataclass(frozen=True, repr=False)
class TextDataset(Dataset):
    """A Dataset of word counts that keeps the text of each item.

    ``name``, ``x``, ``ids``, ``factors``, ``splits``, ``licence``, ``columns`` (the words) and ``table`` (none) are
    as of any :class:`Dataset`.

    * ``texts``: one an item;
    * ``counter``: how texts became counts, so that new ones become counts the same way.
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
    kinds: Mapping[str, Kind] | None = None,
    classes: Mapping[str, Sequence[Any]] | None = None,
    splits: Mapping[str, Sequence[int]] | None = None,
    counter: WordCounter | None = None,
    options: Mapping[str, Any] | None = None,
    name: str = "texts",
) -> TextDataset:
    """A data set from texts.

        from_texts(["good film", "bad film"], {"liked": [True, False]})

    * ``texts``: one string an item;
    * ``factors``, ``kinds``, ``classes``: as of :func:`unknot.data.from_arrays`;
    * ``splits``: name -> rows; the vocabulary is that of the split "train", if there is one;
    * ``counter``: how words are counted, if it is known already; otherwise it is learned from the texts;
    * ``options``: those of :meth:`WordCounter.learn`, in scikit-learn's words: ``{"max_features": 2000}``. Words are
      counted, but weighed by tf-idf where there are labels to learn;
    * ``name``: for messages and for the record.
    """
    texts = [_text(name, row, text) for row, text in enumerate(texts)]
    if not texts:
        raise DataError(f"{name}: there are no texts.")
    parts = {part: torch.as_tensor(rows, dtype=torch.int64) for part, rows in (splits or {}).items()}
    learned = counter is None
    if counter is None:
        known = [texts[row] for row in parts["train"].tolist()] if "train" in parts else texts
        usual = {"weights": "tfidf"} if factors else {}
        counter = WordCounter.learn(known, **{**usual, **dict(options or {})})
    deciding = training_rows(parts, len(texts))
    made = {
        label: read_factor(
            label, values, len(texts), (kinds or {}).get(label), (classes or {}).get(label), deciding
        )
        for label, values in (factors or {}).items()
    }
    ids = torch.arange(len(texts))
    counts = counter.count(texts)
    if not learned and not len(counts.words):
        warnings.warn(
            f"{name}: no text holds a word that the model knows, so that it can only guess.",
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
