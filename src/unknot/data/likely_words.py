"""Rows of shares or counts of words as the words themselves: the most likely first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
