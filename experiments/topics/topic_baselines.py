"""Baselines of topic models: word frequencies, and the LDAs of scikit-learn and tomotopy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.topics.topic_corpus import Corpus, halves
from experiments.topics.topic_scores import duplicate_topics, npmi, top_words, topic_diversity
from unknot.errors import SpecError

_LITTLE = 1e-12  # keeps logarithms finite


@dataclass(frozen=True)
class Baseline:
    """Probabilities of words given documents, ``predict(counts) -> (N, V)``, and topics ``(K, V)``."""

    predict: Callable[[Any], np.ndarray]
    topics: np.ndarray | None = None
    seconds: float = 0.0


def unigram(corpus: Corpus, topics: int, seed: int, rounds: int) -> Baseline:
    """Return the word frequencies of the training documents."""
    counts = np.asarray(corpus.matrix("train").sum(0)).ravel() + 0.5
    shares = counts / counts.sum()
    return Baseline(lambda x: np.broadcast_to(shares, (x.shape[0], len(shares))))


def online_lda(corpus: Corpus, topics: int, seed: int, rounds: int) -> Baseline:
    """Fit scikit-learn's LatentDirichletAllocation, online, with ``rounds`` passes over the documents."""
    from sklearn.decomposition import LatentDirichletAllocation

    start = time.process_time()
    model = LatentDirichletAllocation(topics, learning_method="online", max_iter=rounds, random_state=seed)
    model.fit(corpus.matrix("train"))
    spent = time.process_time() - start
    words = model.components_ / model.components_.sum(1, keepdims=True)  # (K, V)
    return Baseline(lambda x: model.transform(x) @ words, words, spent)


def gibbs_lda(corpus: Corpus, topics: int, seed: int, rounds: int) -> Baseline:
    """Fit tomotopy's LDA by collapsed Gibbs sampling with ``rounds`` sweeps and its default of learned priors."""
    try:
        import tomotopy
    except ImportError:
        raise SpecError("this row needs tomotopy: pip install 'unknot[bench]'.") from None
    start = time.process_time()
    model = tomotopy.LDAModel(k=topics, seed=seed)
    for words in _tokens(corpus.matrix("train")):
        model.add_doc(words)
    model.train(rounds, workers=1)
    spent = time.process_time() - start
    places = [int(word) for word in model.used_vocabs]
    shares = np.full((topics, len(corpus.words)), _LITTLE)
    shares[:, places] = [model.get_topic_word_dist(k) for k in range(topics)]

    def predict(x: Any) -> np.ndarray:
        documents = [model.make_doc(words or ["0"]) for words in _tokens(x)]
        found, _ = model.infer(documents, iterations=100, workers=1)
        return np.asarray(np.array(found) @ shares)

    return Baseline(predict, shares, spent)


BASELINES = {"unigram": unigram, "online LDA": online_lda, "Gibbs LDA": gibbs_lda}


def baseline_numbers(model: Baseline, corpus: Corpus) -> dict[str, float]:
    """Return the measures of a baseline: document completion, coherence and diversity of its topics."""
    first, second = (data.x.to_scipy() for data in halves(corpus.test))  # type: ignore[union-attr]
    shares = model.predict(first)
    logs = second.multiply(np.log(shares + _LITTLE)).sum()
    found = {"completion": float(np.exp(-logs / max(second.sum(), 1))), "seconds": model.seconds}
    if model.topics is None:
        whole = corpus.matrix("test")
        each = np.asarray(whole.multiply(np.log(model.predict(whole))).sum(1)).ravel()
        lengths = np.asarray(whole.sum(1)).ravel()
        some = lengths > 0
        found["per_document"] = float(np.exp((-each[some] / lengths[some]).mean()))
        found["per_token"] = float(np.exp(-each.sum() / lengths.sum()))
        return found
    words = top_words(model.topics, 25)
    return {
        **found,
        "npmi": float(npmi(words[:, :10], corpus.matrix("both")).mean()),
        "npmi_test": float(npmi(words[:, :10], corpus.matrix("test")).mean()),
        "diversity": topic_diversity(words),
        "duplicates": float(duplicate_topics(words[:, :10])),
    }


def _tokens(counts: Any) -> list[list[str]]:
    """Return documents as lists of words, with repetitions; a word is the index of its column."""
    rows = counts.tocsr()
    return [
        [str(word) for word in np.repeat(rows.indices[a:b], rows.data[a:b].astype(int))]
        for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)
    ]
