"""Measures of a trained topic model: perplexities, and coherence, diversity and correlation of its topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.topics.topic_corpus import Corpus, halves
from experiments.topics.topic_model import Posterior, TopicModel, posterior
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.models.words.counts import multinomial_coefficient, word_counts
from unknot.objectives import elbo
from unknot.objectives.diagnostics import information

ACTIVE = 0.1  # nats of I(x; z_d) from which a topic counts as active
_CHUNK, _DRAWS, _MEASURED = 500, 10, 1000


@dataclass(frozen=True)
class Topics:
    """The topics of a model on some documents.

    Attributes
    ----------
    words : ndarray
        Columns of the top words of each topic by raw weight, as ProdLDA's code ranks them, ``(K, 25)``.
    acting : ndarray
        The same by weight times the scale of the decoder's norm, as in the logits.
    nats : ndarray
        I(x; z_d) of each topic, ``(K,)``.
    means : ndarray
        E q(z | x) of the documents, ``(N, K)``.
    groups : ndarray
        The group of each topic, ``(K,)``.
    """

    words: np.ndarray
    acting: np.ndarray
    nats: np.ndarray
    means: np.ndarray
    groups: np.ndarray

    @property
    def active(self) -> np.ndarray:
        return self.nats > ACTIVE

    def correlations(self) -> np.ndarray:
        """Return the correlation of topics over the documents, ``(K, K)``; zero for constant ones."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(np.corrcoef(self.means.T))


def perplexities(model: TopicModel, data: Dataset) -> dict[str, float]:
    """Return exp(-bound) per word, averaged over documents, and over all words.

    The bound is the ELBO with ten samples, without the multinomial coefficient.
    """
    bounds, counts = [], []
    with torch.no_grad(), validation(False):
        for batch in data.batches(_CHUNK, shuffle=False):
            q = model.encode(batch.x, samples=_DRAWS)
            total = word_counts(batch.x)
            bounds.append(
                elbo(q, model.decode(batch.x, q)).per_item - multinomial_coefficient(batch.x, total)
            )
            counts.append(total)
    bound, total = torch.cat(bounds), torch.cat(counts)
    some = total > 0
    return {
        "per_document": float((-bound[some] / total[some]).mean().exp()),
        "per_token": float((-bound[some].sum() / total[some].sum()).exp()),
    }


def completion(model: TopicModel, data: Dataset, steps: int = 0) -> float:
    """Return the perplexity per token of one half of each document, given the other half.

    The second half is scored by the mean probabilities of words under the posterior of the first half, after ``steps``
    of :func:`posterior`.
    """
    first, second = halves(data)
    logs, count = 0.0, 0.0
    torch.manual_seed(0)
    for start in range(0, len(data), _CHUNK):
        rows = range(start, min(start + _CHUNK, len(data)))
        found = posterior(model, first.batch(rows).x, steps)
        hidden = second.batch(rows).x.to_dense()
        logs += float((hidden * _predicted(model, found).log()).sum())
        count += float(hidden.sum())
    return float(np.exp(-logs / max(count, 1.0)))


def _predicted(model: TopicModel, found: Posterior, draws: int = 20) -> Tensor:
    """Return mean probabilities of words over samples of the posterior, ``(B, V)``."""
    with torch.no_grad():
        total = torch.zeros(())
        for _ in range(draws):
            total = total + model.decoder(found.draw()).softmax(-1)
    return total / draws


def topics_of(model: TopicModel, data: Dataset) -> Topics:
    """Return the topics of a model on documents."""
    found = [posterior(model, batch.x) for batch in data.batches(_CHUNK, shuffle=False)]
    means, widths = torch.cat([one.loc for one in found]), torch.cat([one.scale for one in found])
    with torch.no_grad(), validation(False):
        torch.manual_seed(0)
        q = Trace()
        q.normal(means[:_MEASURED], widths[:_MEASURED], name="z", event_dims=1)
        nats = information(q, len(data)).dimensions["z"]
    groups = np.repeat(np.arange(len(model.groups)), list(model.groups.values()))
    raw, acting = model.decoder.words.weight.detach().T, model.decoder.topic_weights()
    words, as_seen = (top_words(weights.numpy(), 25) for weights in (raw, acting))
    return Topics(words, as_seen, nats.numpy(), means.numpy(), groups)


def topic_numbers(topics: Topics, corpus: Corpus) -> dict[str, float]:
    """Return coherence, diversity, activity and correlation of topics."""
    active = topics.active
    scores = npmi(topics.words[:, :10], corpus.matrix("both"))
    tested = npmi(topics.words[:, :10], corpus.matrix("test"))
    acting = npmi(topics.acting[:, :10], corpus.matrix("both"))
    within, between = mean_correlations(topics)
    return {
        "npmi": float(scores.mean()),
        "npmi_test": float(tested.mean()),
        "npmi_active": float(scores[active].mean()) if active.any() else 0.0,
        "npmi_acting": float(acting[active].mean()) if active.any() else 0.0,
        "diversity": topic_diversity(topics.words),
        "diversity_acting": topic_diversity(topics.acting),
        "duplicates": float(duplicate_topics(topics.words[:, :10])),
        "active": float(active.sum()),
        "within": within,
        "between": between,
    }


def mean_correlations(topics: Topics) -> tuple[float, float]:
    """Return the mean |r| of pairs of active topics within and between groups (or halves of a single group)."""
    groups = topics.groups
    if groups.max() == 0:  # one group: its halves, for comparison
        groups = (np.arange(len(groups)) >= len(groups) // 2).astype(int)
    sizes = np.abs(topics.correlations())
    first, second = np.triu_indices(len(groups), 1)
    kept = topics.active[first] & topics.active[second]
    same = groups[first] == groups[second]
    found = sizes[first, second]
    means = [float(found[kept & part].mean()) if (kept & part).any() else 0.0 for part in (same, ~same)]
    return means[0], means[1]


def topic_diversity(top_words: np.ndarray) -> float:
    """Return the share of distinct words among the top words ``(K, T)`` of all topics (Dieng et al. 2020).

    It is 1 if no two topics share a word and 1/K if all are the same.
    """
    words = np.asarray(top_words)
    return len(np.unique(words)) / words.size


def duplicate_topics(top_words: np.ndarray, shared: float = 0.5) -> int:
    """Return the number of topics that share more than ``shared`` of their top words ``(K, T)`` with an earlier one."""
    sets = [set(row) for row in np.asarray(top_words).tolist()]
    size = np.shape(top_words)[1]
    return sum(any(len(one & other) > shared * size for other in sets[:k]) for k, one in enumerate(sets))


def npmi(top_words: np.ndarray, reference: Any) -> np.ndarray:
    """Return the normalized pointwise mutual information of the top words of every topic, ``(K,)`` from -1 to 1.

    The mean over pairs of a topic's words of

        log [p(v, w) / (p(v) p(w))] / -log p(v, w)

    where p are shares of the documents of the reference corpus in which words occur, alone or together (Bouma 2009).
    Words without a common document count -1, words in every document 0.

    Parameters
    ----------
    top_words : ndarray
        Columns of the words of each topic, ``(K, T)``, usually T = 10.
    reference : array or sparse matrix
        Counts of words in documents, ``(N, V)``.
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
    """Return the columns of the ``count`` largest weights of each topic, ``(K, count)``, largest first."""
    return np.argsort(-np.asarray(weights), axis=1, kind="stable")[:, :count]
