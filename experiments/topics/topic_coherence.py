"""Topic coherence: how often the top words of a topic share a document of a reference corpus (NPMI)."""

from __future__ import annotations

from typing import Any

import numpy as np


def npmi(top_words: np.ndarray, reference: Any) -> np.ndarray:
    """Normalized pointwise mutual information of the top words of every topic, ``(K,)`` from -1 to 1.

    The mean over pairs of a topic's words of

        log [p(v, w) / (p(v) p(w))] / -log p(v, w)

    where p are shares of the documents of the reference corpus in which words occur, alone or together (Bouma 2009).
    Two words that never share a document count -1, also where one of them does not occur at all; two that are in every
    document count 0, since they tell nothing of each other. So the result is never NaN.

    Arguments:
        top_words: the columns of the words of each topic, ``(K, T)``; T is 10 as a rule.
        reference: counts of words in documents, ``(N, V)``, an array or a sparse matrix of scipy.
    """
    from scipy import sparse

    words = np.asarray(top_words)
    used, places = np.unique(words, return_inverse=True)
    places = places.reshape(words.shape)
    occurs = sparse.csc_matrix(reference)[:, used].astype(bool).astype(np.float64)  # (N, U)
    together = np.asarray((occurs.T @ occurs).todense()) / occurs.shape[0]  # (U, U)
    alone = np.diag(together)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(together / np.outer(alone, alone)) / -np.log(together)
    scores = np.where(together == 0, -1.0, np.where(together >= 1, 0.0, scores))
    first, second = np.triu_indices(words.shape[1], 1)
    return np.asarray(scores[places[:, first], places[:, second]].mean(1))


def top_words(weights: np.ndarray, count: int = 10) -> np.ndarray:
    """The columns of the ``count`` largest weights of each topic, ``(K, count)``, the largest first."""
    return np.argsort(-np.asarray(weights), axis=1, kind="stable")[:, :count]
