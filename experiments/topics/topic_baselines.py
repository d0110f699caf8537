"""What a user would do instead of a topic model of ours: word frequencies, and two well-kept LDAs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.topics.topic_coherence import npmi, top_words
from experiments.topics.topic_corpus import Corpus, halves
from experiments.topics.topic_diversity import duplicate_topics, topic_diversity
from unknot.errors import SpecError

_LITTLE = 1e-12  # keeps logarithms finite


@dataclass(frozen=True)
class Rival:
    """Probabilities of words given documents ``predict(counts) -> (N, V)``, and topics ``(K, V)`` if it has them."""

    predict: Callable[[Any], np.ndarray]
    topics: np.ndarray | None = None
    seconds: float = 0.0


def unigram(corpus: Corpus, topics: int, seed: int, rounds: int) -> Rival:
    """The words of the training documents, whatever the document."""
    counts = np.asarray(corpus.matrix("train").sum(0)).ravel() + 0.5
    shares = counts / counts.sum()
    return Rival(lambda x: np.broadcast_to(shares, (x.shape[0], len(shares))))


def online_lda(corpus: Corpus, topics: int, seed: int, rounds: int) -> Rival:
    """scikit-learn's LatentDirichletAllocation, online, with so many passes over the documents."""
    from sklearn.decomposition import LatentDirichletAllocation

    start = time.process_time()
    model = LatentDirichletAllocation(topics, learning_method="online", max_iter=rounds, random_state=seed)
    model.fit(corpus.matrix("train"))
    spent = time.process_time() - start
    words = model.components_ / model.components_.sum(1, keepdims=True)  # (K, V)
    return Rival(lambda x: model.transform(x) @ words, words, spent)


def gibbs_lda(corpus: Corpus, topics: int, seed: int, rounds: int) -> Rival:
    """tomotopy's LDA by collapsed Gibbs sampling, with so many sweeps, priors learned as it does by default."""
    try:
        import tomotopy
    except ImportError:
        raise SpecError("this row is made with tomotopy: pip install 'unknot[bench]'.") from None
    start = time.process_time()
    model = tomotopy.LDAModel(k=topics, seed=seed)
    for words in _spoken(corpus.matrix("train")):
        model.add_doc(words)
    model.train(rounds, workers=1)
    spent = time.process_time() - start
    places = [int(word) for word in model.used_vocabs]
    shares = np.full((topics, len(corpus.words)), _LITTLE)
    shares[:, places] = [model.get_topic_word_dist(k) for k in range(topics)]

    def predict(x: Any) -> np.ndarray:
        documents = [model.make_doc(words or ["0"]) for words in _spoken(x)]
        found, _ = model.infer(documents, iterations=100, workers=1)
        return np.asarray(np.array(found) @ shares)

    return Rival(predict, shares, spent)


RIVALS = {"unigram": unigram, "online LDA": online_lda, "Gibbs LDA": gibbs_lda}


def rival_numbers(rival: Rival, corpus: Corpus) -> dict[str, float]:
    """The measures that a rival has: document completion, coherence and diversity of its topics."""
    first, second = (data.x.to_scipy() for data in halves(corpus.test))  # type: ignore[union-attr]
    shares = rival.predict(first)
    logs = second.multiply(np.log(shares + _LITTLE)).sum()
    found = {"completion": float(np.exp(-logs / max(second.sum(), 1))), "seconds": rival.seconds}
    if rival.topics is None:
        whole = corpus.matrix("test")
        each = np.asarray(whole.multiply(np.log(rival.predict(whole))).sum(1)).ravel()
        lengths = np.asarray(whole.sum(1)).ravel()
        some = lengths > 0
        found["per_document"] = float(np.exp((-each[some] / lengths[some]).mean()))
        found["per_token"] = float(np.exp(-each.sum() / lengths.sum()))
        return found
    words = top_words(rival.topics, 25)
    return {
        **found,
        "npmi": float(npmi(words[:, :10], corpus.matrix("both")).mean()),
        "npmi_test": float(npmi(words[:, :10], corpus.matrix("test")).mean()),
        "diversity": topic_diversity(words),
        "duplicates": float(duplicate_topics(words[:, :10])),
    }


def _spoken(counts: Any) -> list[list[str]]:
    """Documents as lists of words, each as often as it is counted; a word is its column."""
    rows = counts.tocsr()
    return [
        [str(word) for word in np.repeat(rows.indices[a:b], rows.data[a:b].astype(int))]
        for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)
    ]
