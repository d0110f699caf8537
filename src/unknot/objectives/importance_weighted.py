"""The importance-weighted objective (S17 Eq. 9); without labels, the bound of Burda et al. (2016)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.elimination import Elimination, factor
from unknot.core.expectation import Part, is_scored, total
from unknot.core.node import Variable
from unknot.core.numerics import log_mean_exp
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.parts.labels import LabelWeights, Number, effective_samples, label_weights
from unknot.objectives.parts.score_of_all_draws import log_mean_without, score_of_all_draws
from unknot.objectives.parts.site_terms import SiteParts, check_pair
from unknot.objectives.semi_supervised import item_weight
from unknot.objectives.terms import Terms


def importance_weighted(
    q: Trace,
    p: Trace,
    alpha: Number = 1.0,
    gamma: Number = 1.0,
) -> Terms:
    """The importance-weighted objective, S17 Eq. 9, for labels y that may differ from item to item,

        log (1/S) Σ_s p(x, y, z_s) / q(z_s | x)  +  α log (1/S) Σ_s w_s

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch, with S samples;
    * ``alpha``: α, the weight of the classifier;
    * ``gamma``: how often an item with labels counts beside one without (Eq. 2).

    Evidence ψ(y) about a site (:func:`unknot.partial`) is data with the likelihood ψ: p is p(x, y, z) ψ(y), q draws y
    given the evidence, and w_s has the probability of the evidence in the place of that of a label.

    Returns :class:`~unknot.objectives.terms.Terms`: ``evidence``, a lower bound on log p(x, y) that grows with S, and
    ``classifier``, an estimate of log q(y | x) (zero without labels). ``diagnostics["effective_samples"]`` is that of
    the weights p/q.

    **Enumerated sites** are marginalized inside the logarithm. A value k needs no proposal probability: with
    draws z_{k,s} from q(z | x, k) for each of them,

        (1/S) Σ_s Σ_k p(x, k, z_{k,s}) / q(z_{k,s} | x, k)

    is unbiased for Σ_k p(x, k) = p(x), whether z comes before k or after it; if everything is enumerated it is
    log p(x) itself. Items that know k keep that value only.

    **Gradient.** Pathwise and enumerated sites: the estimator's own. Score-function sites: with the
    leave-one-out signal of Mnih & Rezende (2016).

    >>> from unknot import Trace
    >>> q, p = Trace(samples=5), Trace()
    >>> _ = q.normal(torch.zeros(4), 0.7071, name="z")
    >>> z = p.normal(0.0, 1.0, value=q["z"], name="z")
    >>> _ = p.normal(z, 1.0, value=torch.zeros(4), name="x")
    >>> importance_weighted(q, p)["evidence"]  # q is the posterior: log N(0; 0, 2)
    tensor([-1.2655, -1.2655, -1.2655, -1.2655])
    """
    if isinstance(alpha, Mapping):
        raise SpecError(
            "importance_weighted: alpha is one number, since log (1/S) Σ w has no parts by site; use semi_supervised "
            "for a weight per labeled site"
        )
    check_pair(q, p)
    site_parts = SiteParts(q, p)
    sites = site_parts.sites
    labels = label_weights(q.variables())
    parts = log_weight_parts(site_parts)
    per_draw = _summed(q, parts)  # (B,) or (S, B)
    evidence = log_mean_exp(per_draw, SAMPLES) if per_draw.ndim > 1 else per_draw
    normalized = per_draw.softmax(SAMPLES) if per_draw.ndim > 1 else None
    ess = effective_samples(normalized, evidence, 1)
    classifier = torch.zeros_like(evidence) if labels is None else _classifier(labels)
    score = None
    if site_parts.is_scored:
        reached = [*parts, *([] if labels is None else labels.joint)]
        sites = [
            node
            for place, node in enumerate(sites)
            if is_scored(node) and any(one.depends_on(node, place) for one in reached)
        ]
        if sites:
            score = _score(sites, per_draw, evidence + alpha * classifier, labels, alpha)
    return Terms(
        {"evidence": evidence, "classifier": classifier},
        {"classifier": alpha},
        None if labels is None else item_weight(labels.labeled, gamma),
        {"effective_samples": ess},
        score,
    )


def log_weight_parts(site_parts: SiteParts) -> list[Part]:
    """``log p(x, y, z) - log q(z | x)`` for every draw and every enumerated value, site by site."""
    found = [one for values in site_parts.data_and_log_terms().values() for one in values]
    for node in site_parts.q.nodes():
        if isinstance(node, Variable) and node.enumerated:
            theirs = site_parts.p[node.name]
            found.append(site_parts.of_p(theirs, theirs.log_prob))
            if node.active is not None or node.impossible is not None or isinstance(node.known, Tensor):
                found.append(site_parts.of_q(node, _counted_once(node)))
        else:
            found += site_parts.log_ratio(node)
    return found


def _summed(q: Trace, parts: list[Part]) -> Tensor:
    """The sum over all enumerated values, per draw: ``(B,)`` or ``(S, B)``."""
    if not any(node.enumerated for node in q.variables()):
        return total(parts)
    factors = [factor(one.value, one.axes, one.name) for one in parts]
    return Elimination(factors).run().log_total()


def _counted_once(node: Variable) -> Tensor:
    """Zero for the values that count, -inf off the label and for values that q rules out.

    Where the site is switched off, weights that add to one.
    """
    counted = torch.zeros_like(node.log_prob)
    if node.impossible is not None:
        counted = counted.masked_fill(node.impossible, -torch.inf)
    if isinstance(node.known, Tensor):
        counted = torch.where(node.known, node.log_weight, counted)
    return counted if node.active is None else torch.where(node.active, counted, node.log_weight)


def _classifier(labels: LabelWeights) -> Tensor:
    """``log (1/S) Σ_s w_s``, ``(B,)``."""
    log_weight = labels.log_weight
    return log_mean_exp(log_weight, SAMPLES) if log_weight.ndim > 1 else log_weight


def _score(
    sites: list[Variable], per_draw: Tensor, whole: Tensor, labels: LabelWeights | None, alpha: Number
) -> Tensor:
    """The objective's score-function part; b_s is the objective computed from the other draws."""
    if per_draw.ndim < 2 or per_draw.shape[SAMPLES] == 1:
        return score_of_all_draws(sites, whole, None)
    without = log_mean_without(per_draw.detach())
    if labels is not None:
        label_weight = labels.log_weight.detach().expand_as(per_draw)
        without = without + alpha * log_mean_without(label_weight)
    return score_of_all_draws(sites, whole, without)
