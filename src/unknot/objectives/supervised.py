"""The labels alone: an encoder trained as a classifier, without the generative model."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.expectation import Part, average, is_scored, score_term
from unknot.core.gradients import Baselines, leave_one_out
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.objectives.parts.classifier import Number, classifier
from unknot.objectives.parts.label_weights import label_weights
from unknot.objectives.parts.score_of_all_draws import score_of_all_draws
from unknot.objectives.parts.site_terms import log_terms, proposals
from unknot.objectives.terms import Terms


def supervised(q: Trace, p: Trace, alpha: Number | Mapping[str, Number] = 1.0) -> Terms:
    """Log-probability of the labels under the encoder and nothing of the generative model,

        (1/S) Σ_s log w_s <= log q(y | x)                                                       (S17 Eq. 7)

    where w_s is the probability of an item's labels at draw s (:mod:`unknot.objectives.parts.label_weights`). Where no
    label comes after a draw it is log q(y | x) itself, the objective of a plain classifier: the part of
    :func:`~unknot.objectives.semi_supervised` that weighs α, without the images. What a model learns beyond it
    is owed to unlabeled items and to the structure.

    Arguments:

    * ``q``: the encoder's trace of a batch;
    * ``p``: the decoder's. Only its log-terms count: regularizers of the encoder, such as the agreement of two
      views, which can be had without a generative model too;
    * ``alpha``: the weight of the classifier beside them; ``{"y": 50.0}`` weighs the labels of the site y alone, and
      one those of the other sites.

    Returns :class:`~unknot.objectives.terms.Terms`: ``classifier``, zero for items without labels (by site
    ``classifier[site]``, as in :func:`~unknot.objectives.semi_supervised`), and ``log_term[name]``, averaged over
    draws. Sites drawn with the score function before a label or a log-term get their gradient.

    >>> from unknot import Trace, partial
    >>> q, p = Trace(), Trace()
    >>> _ = q.concrete(torch.zeros(3, 2), 0.66, value=partial(torch.tensor([1, -1, 0])), name="y")
    >>> supervised(q, p)["classifier"]
    tensor([-0.6931,  0.0000, -0.6931])
    """
    sites = q.variables()
    labels = label_weights(sites)
    log_terms_of_p = log_terms(q, p)
    added = {name: average(proposals(q, p), value) for name, value in log_terms_of_p.items()}
    like = torch.zeros(q.leading_shape[-1:]) if labels is None else labels.mean_log()
    known = classifier(sites, labels, alpha, like)
    with Baselines() as baselines:
        score = None if labels is None else _score(sites, known.weighted().detach(), baselines)
        if added:  # what p adds may depend on any draw
            more = score_term(
                proposals(q, p),
                [Part(value, p.axes, name) for name, value in log_terms_of_p.items()],
                baselines,
            )
            score = more if score is None or more is None else score + more
    return Terms({**known.terms(), **added}, known.weights, score=score)


def _score(sites: list[Variable], log_weight: Tensor, baselines: Baselines) -> Tensor | None:
    """Score-function part of the gradient of a mean over draws, each against the mean of the others.

    Sites after the last label cannot change its probability: they would add noise and nothing else.
    """
    last = max(i for i, node in enumerate(sites) if node.known is not False)
    sites = sites[:last]
    if not any(is_scored(node) for node in sites):
        return None
    if log_weight.ndim < 2 or log_weight.shape[SAMPLES] == 1:
        return score_of_all_draws(sites, log_weight, None, baselines)
    return score_of_all_draws(sites, log_weight.mean(SAMPLES), leave_one_out(log_weight), baselines)
