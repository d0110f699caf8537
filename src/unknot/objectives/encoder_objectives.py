"""Objectives of the encoder alone: labels, classes without labels, and the sleep phase. The decoder learns nothing."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.expectation import Part, average, is_scored, score_term
from unknot.core.gradients import Baselines, leave_one_out
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import expected_terms
from unknot.objectives.parts.class_parts import class_parts, class_sites
from unknot.objectives.parts.labels import Number, classifier, label_weights
from unknot.objectives.parts.score_of_all_draws import score_of_all_draws
from unknot.objectives.parts.site_terms import log_terms, proposals
from unknot.objectives.terms import Terms


def supervised(q: Trace, p: Trace, alpha: Number | Mapping[str, Number] = 1.0) -> Terms:
    """Log-probability of the labels under the encoder, and nothing of the generative model,

        (1/S) Σ_s log w_s <= log q(y | x)                                                       (S17 Eq. 7)

    where w_s is the probability of an item's labels at draw s (:mod:`unknot.objectives.parts.labels`). Where no
    label comes after a draw it is log q(y | x) itself, the objective of a plain classifier: the part of
    :func:`~unknot.objectives.semi_supervised` that α weighs, without the images. What a model learns beyond it comes
    from unlabeled items and from the structure.

    Parameters
    ----------
    q : Trace
        The encoder's trace of a batch.
    p : Trace
        The decoder's trace. Only its log-terms count: regularizers of the encoder, such as the agreement of two views.
    alpha : float or mapping from site to float, default=1.0
        Weight of the classification beside the log-terms. ``{"y": 50.0}`` weighs the labels of the site y, and one
        those of the other sites.

    Returns
    -------
    Terms
        ``classifier``, zero for items without labels (by site ``classifier[site]``, as in
        :func:`~unknot.objectives.semi_supervised`), and ``log_term[name]``, averaged over draws. Sites drawn with the
        score function before a label or a log-term get their gradient.

    Examples
    --------
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

    Sites after the last label cannot change its probability: they would only add noise.
    """
    last = max(i for i, node in enumerate(sites) if node.known is not False)
    sites = sites[:last]
    if not any(is_scored(node) for node in sites):
        return None
    if log_weight.ndim < 2 or log_weight.shape[SAMPLES] == 1:
        return score_of_all_draws(sites, log_weight, None, baselines)
    return score_of_all_draws(sites, log_weight.mean(SAMPLES), leave_one_out(log_weight), baselines)


def information_maximization(q: Trace, p: Trace, information: float = -1.0, marginal: float = 0.0) -> Terms:
    """-λ I(x; c) - μ KL(q̄(c) || p(c)) for every class c of the encoder, and p's log-terms (Krause et al. 2010).

    With λ < 0 it rewards confident classes that, over the items, are as common as the prior says. Alone it finds any
    sorting of the items; which one is decided by p's log-terms, for instance the agreement of two views of an item
    (:mod:`unknot.objectives.regularizers.agreement`). It is for the first stage of a run, before the decoder learns:
    later the style explains everything and the class stays unused.

    Parameters
    ----------
    q : Trace
        The encoder's trace of a batch.
    p : Trace
        The decoder's trace, of which only the priors of the classes and the log-terms count.
    information : float, default=-1.0
        λ, the weight of a nat of I(x; c). A negative weight rewards it.
    marginal : float, default=0.0
        μ, the weight of the divergence of the classes' frequencies from the prior.

    Returns
    -------
    Terms
        ``information[c]`` (minus the information) and ``marginal[c]``, by exact masses
        (:mod:`unknot.objectives.parts.class_parts`), and ``log_term[name]``.
    """
    names = class_sites(q)
    if not names:
        raise SpecError("information_maximization: the encoder has no class, a site with one of K values.")
    values: dict[str, Tensor] = {}
    weights: dict[str, float] = {}
    for name in names:
        own, spread = class_parts(q, p, name)
        values |= {f"information[{name}]": own, f"marginal[{name}]": spread}
        weights |= {f"information[{name}]": information, f"marginal[{name}]": marginal}
    return expected_terms(q, p, {**values, **log_terms(q, p)}, weights)


def sleep(q: Trace, p: Trace, alpha: Number | Mapping[str, Number] = 1.0) -> Terms:
    """Log-probability, under the encoder, of the values that a generated item was generated from,

        log q(v | x̂)        v, x̂ ~ p                           (Hinton et al. 1995, the sleep phase)

    Its mean is, but for a constant, - E_{p(x)} KL(p(v | x) || q(v | x)): the encoder becomes the posterior of the
    generative model on the items that this model generates, and no label is needed. It covers all that p allows,
    where the bound, -KL(q || p), may settle on a part; and sites whose draws pass no gradient learn like any other. How
    much it helps with real items depends on how similar generated items are. The decoder learns nothing.

    Parameters
    ----------
    q : Trace
        The encoder's trace of generated items, every site observed at the value that the item was generated from, as
        :meth:`~unknot.core.program.Program.sleep_phase` and :func:`~unknot.core.handlers.replay` make it.
    p : Trace
        The decoder's trace.
    alpha : float or mapping from site to float, default=1.0
        A weight of the whole; ``{"y": 50.0}`` weighs the site y, and one the others.

    Returns
    -------
    Terms
        As :func:`~unknot.objectives.supervised`.

    Examples
    --------
    >>> import torch
    >>> from unknot import Trace
    >>> q, p = Trace(), Trace()
    >>> _ = q.concrete(torch.zeros(3, 2), 0.66, value=torch.tensor([1, 0, 0]), name="y")
    >>> sleep(q, p)["classifier"]
    tensor([-0.6931, -0.6931, -0.6931])
    """
    for node in q.variables():
        if node.known is False:
            raise SpecError(
                f"sleep: q has drawn '{node.name}', which must be observed at the generated value. A sub-model that "
                "writes a trace of its own must be given its values as labels, in the model's method "
                "sleep_phase(count)."
            )
    return supervised(q, p, alpha)
