"""One objective for any graph and any pattern of labels (S17 Eqs. 2-8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import torch
from torch import Tensor

from unknot.core.expectation import Part, averages, is_scored, score_term
from unknot.core.gradients import leave_one_out
from unknot.core.node import Known, Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import Options
from unknot.objectives.marginal.marginal_tree import Groups
from unknot.objectives.parts.class_parts import by_masses, weighted_classes
from unknot.objectives.parts.closed_form import discrete_kl
from unknot.objectives.parts.labels import (
    Classifier,
    LabelWeights,
    Number,
    classifier,
    effective_samples,
    label_weights,
)
from unknot.objectives.parts.score_of_all_draws import mean_without, score_of_all_draws
from unknot.objectives.parts.site_terms import Parts, SiteParts, check_pair, weighted
from unknot.objectives.parts.weights import weighted_parts
from unknot.objectives.terms import Terms


def semi_supervised(
    q: Trace,
    p: Trace,
    alpha: Number | Mapping[str, Number] = 1.0,
    beta: Number | Mapping[str, Number] = 1.0,
    gamma: Number = 1.0,
    *,
    relaxed_kl: str = "density",
    weight_gradient: bool = True,
    information: Number | Mapping[str, Number] = 1.0,
    between: Number | Mapping[str, Number] = 1.0,
    within: Number | Mapping[str, Number] = 1.0,
    marginal: Mapping[str, Number] | None = None,
    groups: Groups | None = None,
    dataset_size: int | None = None,
    **options: Unpack[Options],
) -> Terms:
    """The semi-supervised objective of S17 for a batch in which every item may have observed something else.

    An item with labels y counts γ times (Eq. 2) the estimator of Eq. 8,

        Σ_s w̄_s log [p(x, y, z_s) / q(y, z_s | x)] + (1 + α) (1/S) Σ_s log w_s,      w̄_s = w_s / Σ_s w_s

    where w_s is the probability of its labels at draw s (:mod:`unknot.objectives.parts.labels`). An item
    without labels has w = 1 and gets the bound of Eq. 1. Evidence ψ(y) about a site, less than a label
    (:func:`unknot.partial`), counts in w_s by q(e | ...) = Σ_y q(y | ...) ψ(y), and y is drawn from
    q(y | ...) ψ(y) / q(e | ...): docs/equations.md derives Eqs. 5-9 for it.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``alpha``: α, the weight of the classifier. ``{"y": 50.0}`` weighs the labels of the site y alone, and one those
      of the other sites;
    * ``beta``: the weight of ``kl`` and ``conditioning``, together minus the KL divergence of q(z | x, y) from p; 1 is
      the paper. ``{"r": 100.0}`` weighs the site r alone, to let it carry little;
    * ``gamma``: γ, how often an item with labels counts beside one without;
    * ``relaxed_kl``: the divergence of a relaxed (Concrete) draw. ``"density"``: that of the relaxed densities, which
      makes the sum a bound for the relaxed model but grows without limit as the encoder gets confident.
      ``"discrete"``: that of the classes behind them (Jang et al. 2017), at most log K, but no bound of either model;
    * ``weight_gradient``: whether the gradient goes through w̄, see below;
    * ``information``, ``between``, ``within``: weights on the parts of the bound, as in E19: of the information that
      the codes keep of x, of the correlation between groups, and within them. One is the bound; ``between=4.0`` makes
      a style that does not know the digit. By name they weigh some parts alone: ``between={"digit, style": 4.0}``
      that pair, ``information={"style": 2.0}`` what the style knows of x, ``within={"within[z]": 3.0}``. With
      labels or draws of the digit alike, q(z | y) is estimated from the batch, each item counting as far as the
      encoder gives it that class (:mod:`unknot.objectives.parts.weights`). What a class read from x alone knows,
      ``information={"digit": -39.0}``, is taken by its exact masses (:mod:`unknot.objectives.parts.class_parts`); a
      weight below zero rewards confident classes;
    * ``marginal``: by class, ``{"digit": 121.0}``, the weight of classes that are not as common as the prior says, over
      all items, by exact masses too; one is the bound;
    * ``groups``, ``dataset_size``, ``options``: as of :func:`~unknot.objectives.decomposition.decompose`, which they
      are handed to; ``dataset_size`` is needed where a weight is not one.

    Returns :class:`~unknot.objectives.terms.Terms`. Since log q(y, z_s | x) = log q(z_s | ...) + log w_s,
    the sum is kept in parts that neither cancel nor hide what they are:

    * ``reconstruction``: Σ w̄ log p(data), and ``kl[site]``: Σ w̄ (log p - log q) of drawn sites, Σ w̄ log p of
      observed ones, Σ w̄ (log p + log ψ - log q(y | ..., e)) of those with evidence;
    * ``log_term[name]``: what p adds by a log-term, averaged in the same way;
    * ``conditioning``: (1/S) Σ log w - Σ w̄ log w, the part of log q(z | x, y) that the proposal leaves out. It
      is there only if the weights vary; where they are constant it is exactly zero, and the objective is that
      of Kingma et al. (2014) (M2: enumerate y; S16 sec. 2.2: plug it in);
    * ``classifier``: (1/S) Σ log w (Eq. 7), weight α; with weights by site ``classifier[site]``, its parts by the
      chain rule (:mod:`unknot.objectives.parts.labels`).

    * ``mutual_information``, ``between``, ``within``: those parts of the bound whose weight is not one; since the bound
      holds each of them once, their weight is the weight less one. Likewise ``between[digit, style]``,
      ``information[style]`` and ``marginal[digit]``.

    ``diagnostics["effective_samples"]`` is 1 / Σ w̄², between 1 and S.

    **Gradient.** The weights depend on q's parameters, directly and through the draws. By default the gradient
    goes through them: it is the gradient of the estimator above, for pathwise, enumerated and score-function
    sites alike. ``weight_gradient=False`` holds w̄ constant, the gradient through log w remains: less variance,
    but not the gradient of any objective when the weights vary. Self-normalized weights are biased for finite
    S, of order 1/S.

    >>> from unknot import Trace, partial
    >>> q, p = Trace(), Trace()
    >>> _ = q.concrete(torch.zeros(3, 2), 0.66, value=partial(torch.tensor([1, -1, 0])), name="y")
    >>> _ = p.concrete(torch.zeros(2), 0.66, value=q["y"], name="y")
    >>> _ = p.normal(0.0, 1.0, value=torch.zeros(3), name="x")
    >>> semi_supervised(q, p, alpha=50.0)["classifier"]
    tensor([-0.6931,  0.0000, -0.6931])
    """
    check_pair(q, p)
    betas, other = (beta, 1.0) if isinstance(beta, Mapping) else ({}, beta)
    for name in betas:
        if name not in q:
            raise SpecError(f"beta: q has no site '{name}'; it has {', '.join(q)}.")
    site_parts = SiteParts(q, p)
    parts = site_parts.data_and_log_terms()
    weights: dict[str, Number] = dict.fromkeys(parts, 1.0)
    for node in q.nodes():
        name = f"kl[{node.group or node.name}]"
        discrete = discrete_kl(node, q, p, relaxed_kl)
        values = site_parts.log_ratio(node) if discrete is None else [site_parts.of_both(node, discrete)]
        parts.setdefault(name, []).extend(values)
        weights[name] = betas.get(node.name, other)
    exact, estimated = by_masses(q, p, information)
    weighted_terms, more = weighted_parts(q, p, dataset_size, groups, estimated, between, within, options)
    classes, class_weights = weighted_classes(q, p, exact, marginal or {}, bound=1.0)
    axes = q.axes
    parts |= {name: [Part(value, axes, name)] for name, value in {**weighted_terms, **classes}.items()}
    weights |= {**more, **class_weights}
    sites = site_parts.sites
    labels = label_weights(q.variables(), part=site_parts.of_label)
    known = classifier(q.variables(), labels, alpha, parts["reconstruction"][0].value)
    if labels is None or labels.constant:
        return _constant(parts, weights, gamma, sites, labels, known)
    normalized = labels.normalized(weight_gradient)
    terms = labels.averages({**parts, "conditioning": labels.joint}, normalized)
    mean_log = labels.mean_log()
    terms |= known.terms()
    terms["conditioning"] = mean_log - terms["conditioning"]
    score = None
    if site_parts.is_scored:
        summed = [*weighted(parts, weights), *(one.times(-other) for one in labels.joint)]
        direct = known.weighted() + other * labels.log_weight
        score = _score(sites, labels, summed, direct.detach())
    weights |= {**known.weights, "conditioning": other}
    ess = effective_samples(normalized, mean_log, _samples(parts))
    return Terms(terms, weights, item_weight(labels.labeled, gamma), {"effective_samples": ess}, score)


def item_weight(labeled: Known, gamma: Number) -> Tensor | None:
    """γ for items with labels and one for the others (S17 Eq. 2); None if all weigh one."""
    if labeled is False or (isinstance(gamma, float | int) and gamma == 1):
        return None
    return torch.where(torch.as_tensor(labeled), gamma, 1.0)


def _constant(
    parts: Parts,
    weights: dict[str, Number],
    gamma: Number,
    sites: list[Variable],
    labels: LabelWeights | None,
    known: Classifier,
) -> Terms:
    """No weights, or weights that are the same for all draws of an item: a plain expectation."""
    terms = averages(sites, parts)
    like = terms["reconstruction"]
    terms |= known.per_draw
    score = None
    if any(is_scored(node) for node in sites):
        summed = weighted(parts, weights)
        if labels is not None:  # a single draw's weight is constant too, but it depends on the draw
            summed.append(Part(known.weighted(), {}, "the classifier"))
        score = score_term(sites, summed)
    weights |= known.weights
    ess = effective_samples(None, like, _samples(parts))
    weight = None if labels is None else item_weight(labels.labeled, gamma)
    return Terms(terms, weights, weight, {"effective_samples": ess}, score)


def _score(sites: list[Variable], labels: LabelWeights, summed: list[Part], direct: Tensor) -> Tensor | None:
    """Score-function part of the gradient when weights vary: the estimator is not a mean over draws.

    For any function F of all draws, ∇ E F = E [∇F + Σ_s (F - b_s) ∇ log q(draw s)] if b_s does not see draw s.
    F is Σ w̄_s f_s + mean_s g_s with f the ``summed`` and g the ``direct`` terms; b_s is F without draw s. A site that
    the weights do not depend on is rewarded by the terms computed from it alone: the others add noise, and no signal.
    """
    rewards: dict[tuple[int, ...], tuple[list[Variable], list[Part], bool]] = {}
    for place, node in enumerate(sites):
        if not is_scored(node):
            continue
        weighted = any(one.depends_on(node, place) for one in labels.joint)
        chosen = [one for one in summed if weighted or one.depends_on(node, place)]
        if chosen:
            key = tuple(map(id, chosen))
            rewards.setdefault((weighted, *key), ([], chosen, weighted))[0].append(node)
    scores = [
        _score_of_part(nodes, labels, chosen, direct if weighted else torch.zeros_like(direct))
        for nodes, chosen, weighted in rewards.values()
    ]
    return sum(scores[1:], start=scores[0]) if scores else None


def _score_of_part(sites: list[Variable], labels: LabelWeights, summed: list[Part], direct: Tensor) -> Tensor:
    """The score of sites with the same reward."""
    f = labels.over_values({"f": summed})["f"].detach()  # (S, B)
    if f.ndim < 2 or f.shape[-2] == 1:
        return score_of_all_draws(sites, f + direct, None)
    log_weight, f, direct = torch.broadcast_tensors(labels.log_weight.detach(), f, direct)
    whole = (log_weight.softmax(-2) * f).sum(-2) + direct.mean(-2)
    return score_of_all_draws(sites, whole, mean_without(log_weight, f) + leave_one_out(direct))


def _samples(parts: Parts) -> int:
    """S, as the terms have it."""
    values = [one.value for listed in parts.values() for one in listed]
    return max(value.shape[-2] if value.ndim > 1 else 1 for value in values)
