"""Numbers of a trained topic model: three perplexities, and what its topics are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from experiments.topics.topic_coherence import npmi, top_words
from experiments.topics.topic_corpus import Corpus, halves
from experiments.topics.topic_diversity import duplicate_topics, topic_diversity
from experiments.topics.topic_model import TopicModel
from experiments.topics.topic_posterior import Posterior, posterior
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

    * ``words``: the columns of each topic's words by raw weight, as ProdLDA's own code ranks them, ``(K, 25)``;
    * ``acting``: the same by weight times the scale of the decoder's norm, as the logits see them;
    * ``nats``: I(x; z_d) of each topic, ``(K,)``;
    * ``means``: E q(z | x) of the documents, ``(N, K)``;
    * ``groups``: the group of each topic, ``(K,)``.
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
        """Correlation of topics over the documents, ``(K, K)``; zero for one that does not vary."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(np.corrcoef(self.means.T))


def perplexities(model: TopicModel, data: Dataset) -> dict[str, float]:
    """exp of minus the bound: its mean over documents of bound / words, and all bounds / all words.

    The bound is the ELBO with ten draws, without the multinomial coefficient: a document is its words in their order.
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
    """Perplexity per token of one half of each document, given the other half.

    The posterior of the first half, after so many ``steps`` of inference of its own, gives the mean of the words'
    probabilities over draws; these score the second half.
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
    """Probabilities of words, ``(B, V)``: their mean over draws of the posterior."""
    with torch.no_grad():
        total = torch.zeros(())
        for _ in range(draws):
            total = total + model.decoder(found.draw()).softmax(-1)
    return total / draws


def topics_of(model: TopicModel, data: Dataset) -> Topics:
    """The topics of a model, and what they tell of the documents."""
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
    """Coherence, diversity, activity and correlation of topics."""
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
    """Mean |r| of pairs of active topics within a group and between groups; of one group, between its halves."""
    groups = topics.groups
    if groups.max() == 0:  # one group: as if it were two, for comparison
        groups = (np.arange(len(groups)) >= len(groups) // 2).astype(int)
    sizes = np.abs(topics.correlations())
    first, second = np.triu_indices(len(groups), 1)
    kept = topics.active[first] & topics.active[second]
    same = groups[first] == groups[second]
    found = sizes[first, second]
    means = [float(found[kept & part].mean()) if (kept & part).any() else 0.0 for part in (same, ~same)]
    return means[0], means[1]
