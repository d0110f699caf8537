"""E19's Table 1: the objectives of the literature as weights over the same terms.

Numbers in circles are the terms of E19 Figs. 1 and 3: (1)+(3) reconstruction, (2) mutual information,
(4) = (A)+(B) the divergence of q(z) from the prior, (A) correlation between groups, (B) = (i)+(ii) within
groups and single dimensions. Where a row of the table treats all dimensions alike, its (A)* = (A)+(i) is the
total correlation over all dimensions, ``between`` and ``within`` together; then (4) = (A)*+(ii).

Every objective is a function of (q, p, ...) that returns :class:`~unknot.objectives.terms.Terms`. Those that need the
inference marginal take ``dataset_size``, which has no default, and the options of
:func:`~unknot.objectives.decomposition.decompose`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from torch import Tensor

from unknot.core.expectation import average
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import (
    MUTUAL_INFORMATION,
    RECONSTRUCTION,
    Options,
    decomposition_parts,
    expected_terms,
)
from unknot.objectives.marginal.gather import gather_items
from unknot.objectives.marginal.marginal_tree import Groups
from unknot.objectives.parts.class_parts import weighted_classes
from unknot.objectives.parts.groups import MARGINAL, ROOT
from unknot.objectives.parts.literature_terms import (
    Covariance,
    anchor_information,
    covariance_penalties,
    excess_by_site,
)
from unknot.objectives.parts.site_terms import KL, elbo_parts, proposals
from unknot.objectives.terms import Terms


def vae(q: Trace, p: Trace) -> Terms:
    """(1)+(2)+(3)+(4): the evidence lower bound, as ``reconstruction`` and ``kl`` (Kingma & Welling 2013).

    Rewards codes that explain the data and stay, item by item, close to the prior. Takes the encoder's trace ``q`` and
    the decoder's, ``p``; returns ``Terms``: ``reconstruction`` and ``kl``.
    """
    return beta_vae(q, p, beta=1.0)


def beta_vae(q: Trace, p: Trace, beta: float = 4.0) -> Terms:
    """(1)+(3) + β((2)+(4)): the ELBO with the whole KL divergence weighted (Higgins et al. 2016).

    For β > 1, rewards q(z | x) near the prior more than faithful reconstruction: correlations shrink, and so
    does the information that z keeps of x, since (2) is weighted too.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``beta``: β, the weight of the KL divergence; 1 is the VAE.

    Returns ``Terms``: ``reconstruction`` and ``kl``.
    """
    return expected_terms(q, p, elbo_parts(q, p), {KL: beta})


def dip_vae(
    q: Trace,
    p: Trace,
    lambda_od: float = 10.0,
    lambda_d: float | None = None,
    kind: str = "I",
    variables: Sequence[str] | None = None,
) -> Terms:
    """(1)+(2)+(3) + λ(4), with (4) replaced by moments: DIP-VAE I and II (Kumar et al. 2017).

        ELBO - λ_od Σ_{i≠j} C_ij² - λ_d Σ_i (C_ii - V_i)²,   V_i the prior's variance

    Rewards codes whose covariance C over the data set is the prior's: uncorrelated, though not necessarily
    independent. The covariance is that of the global batch.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``lambda_od``: λ_od, the weight of the covariances;
    * ``lambda_d``: λ_d, the weight of the variances; by default 10 λ_od for I and λ_od for II, the authors' choices;
    * ``kind``: ``"I"``, C is the covariance of the encoder's means; ``"II"``, of z under q(z), which adds the mean of
      the encoder's variances;
    * ``variables``: the names of the Normal variables it covers, by default all of them.

    Returns ``Terms``: ``reconstruction``, ``kl``, ``off_diagonal`` and ``diagonal``.
    """
    diagonal = lambda_d if lambda_d is not None else lambda_od * (10.0 if kind == "I" else 1.0)
    penalties = covariance_penalties(q, p, Covariance(kind), variables)
    values = elbo_parts(q, p)
    items = values[RECONSTRUCTION].shape[-1:]
    extra = {name: -penalty.expand(items) for name, penalty in penalties.items()}
    weights = {"off_diagonal": lambda_od, "diagonal": diagonal}
    return expected_terms(q, p, {**values, **extra}, weights)


def info_vae(
    q: Trace, p: Trace, dataset_size: int, lambda_: float = 10.0, **options: Unpack[Options]
) -> Terms:
    """(1)+(3) + λ(4): no weight on information, λ on the divergence of q(z) from p(z) (Zhao et al. 2017).

    Rewards codes whose distribution over the whole data set is the prior's, while each item's code may be as
    sharp as it likes.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``dataset_size``: N, the number of training items;
    * ``lambda_``: λ, the weight of the divergence;
    * ``options``: how q(z) is estimated, as for :func:`~unknot.objectives.decomposition.decompose`.

    Returns ``Terms``: those of the decomposition.
    """
    weights = {MUTUAL_INFORMATION: 0.0, ROOT: lambda_, "within": lambda_, MARGINAL: lambda_}
    return _weighted(q, p, dataset_size, None, weights, options)


def capacity_vae(
    q: Trace, p: Trace, gamma: float = 1000.0, C: float | Tensor | Mapping[str, float] = 0.0
) -> Terms:
    """(1)+(3) - γ|KL - C|, KL = -((2)+(4)): a KL divergence of C nats (Burgess et al. 2018, Alemi et al. 2018).

    Rewards using exactly C nats, neither more nor fewer; raise C by stages of training (:mod:`unknot.train.stages`) and
    codes come into use one after another. KL is the
    mean over the global batch, an estimate of E_q(x) KL; one item alone may use more. With a capacity for each
    variable it is JointVAE (Dupont 2018): -γ Σ_v |KL_v - C_v|.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``gamma``: γ, the weight of a nat too many or too few;
    * ``C``: the capacity in nats; or by variable, ``{"z": 5.0, "c": 2.3}``, a class's divergence by exact masses.

    Returns ``Terms``: ``reconstruction`` and ``capacity``, or ``capacity[z]`` of each variable; the ``kl`` itself is
    in ``diagnostics``.
    """
    values = elbo_parts(q, p)
    sites = proposals(q, p)
    if any(node.gradient == "score_function" for node in sites):
        raise SpecError(
            "capacity_vae: |KL - C| is not an expectation over draws, so the score function has no gradient for it; "
            "use pathwise, relaxed or enumerated sites"
        )
    kl = -gather_items(average(sites, values.pop(KL))).mean()
    excess = excess_by_site(q, p, C) if isinstance(C, Mapping) else {"capacity": kl - C}
    items = values[RECONSTRUCTION].shape[-1:]
    penalties = {name: -value.abs().expand(items) for name, value in excess.items()}
    return expected_terms(
        q, p, {**values, **penalties}, dict.fromkeys(penalties, gamma), {KL: -kl.expand(items)}
    )


def anchor_vae(
    q: Trace,
    p: Trace,
    dataset_size: int,
    anchors: Sequence[str] | Mapping[str, Sequence[int]],
    lambda_: float = 1.0,
    **options: Unpack[Options],
) -> Terms:
    """(1)+(2)+(3)+(4) - λ(2)^a: the ELBO with less weight on what the anchors know of x (Gao et al. 2018).

    Rewards, at λ > 0, a few anchor codes that carry much of x.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``dataset_size``: N, the number of training items;
    * ``anchors``: names of variables, whose joint information I(x; z_a) is rewarded; or single dimensions of them,
      ``{"z": [0, 1]}``, each on its own;
    * ``lambda_``: λ, the reward per nat;
    * ``options``: how q(z) is estimated, as for :func:`~unknot.objectives.decomposition.decompose`.

    Returns ``Terms``: ``reconstruction``, ``kl`` and ``anchors``.
    """
    values = elbo_parts(q, p)
    values["anchors"] = anchor_information(q, dataset_size, anchors, options)
    return expected_terms(q, p, values, {"anchors": lambda_})


def information_dropout(
    q: Trace, p: Trace, dataset_size: int, beta: float = 1.0, gamma: float = 1.0, **options: Unpack[Options]
) -> Terms:
    """(1)+(3) + β(2) + γ(A)*: an information bottleneck with a weight on correlation (Achille & Soatto 2018).

    Rewards codes that keep little of x beyond what reconstruction needs and whose dimensions are independent.
    The single dimensions' fit to the prior, (ii), does not count.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``dataset_size``: N, the number of training items;
    * ``beta``: β, the weight of information about x;
    * ``gamma``: γ, the weight of total correlation;
    * ``options``: how q(z) is estimated, as for :func:`~unknot.objectives.decomposition.decompose`.

    Returns ``Terms``: those of the decomposition.
    """
    weights = {MUTUAL_INFORMATION: beta, ROOT: gamma, "within": gamma, MARGINAL: 0.0}
    return _weighted(q, p, dataset_size, None, weights, options)


def beta_tcvae(q: Trace, p: Trace, dataset_size: int, beta: float = 6.0, **options: Unpack[Options]) -> Terms:
    """(1)+(2)+(3) + (ii) + β(A)*: the ELBO with the total correlation weighted (Chen et al. 2018).

    Rewards independent dimensions, at no extra weight on information. All dimensions of all variables are alike.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``dataset_size``: N, the number of training items;
    * ``beta``: β, the weight of the total correlation; 1 is the VAE;
    * ``options``: how q(z) is estimated, as for :func:`~unknot.objectives.decomposition.decompose`.

    Returns ``Terms``: those of the decomposition.
    """
    return _weighted(q, p, dataset_size, None, {ROOT: beta, "within": beta}, options)


def hfvae(
    q: Trace,
    p: Trace,
    dataset_size: int,
    alpha: float = 1.0,
    beta: float = 4.0,
    gamma: float = 3.0,
    groups: Groups | None = None,
    weights: Mapping[str, float] | None = None,
    information: Mapping[str, float] | None = None,
    marginal: Mapping[str, float] | None = None,
    **options: Unpack[Options],
) -> Terms:
    """(1)+(3) + (ii) + α(2) + β(A) + γ(i), E19 Eq. 4: correlation between and within groups, weighted apart.

    Rewards groups that are independent of each other (β), codes that are independent inside a group (γ), and,
    for α > 1, codes that keep little of x.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``dataset_size``: N, the number of training items;
    * ``alpha``: α, the weight of information about x;
    * ``beta``: β, the weight of correlation between groups; below 1 it *lets* them correlate;
    * ``gamma``: γ, the weight of correlation inside a group, at every node below the root if the tree is deeper;
    * ``groups``: a tree of groups, ``{"content": ["y"], "style": ["z"]}``; by default each variable is one;
    * ``weights``: weights of single terms by name, ``{"between[style]": 2.0}``, before α, β and γ;
    * ``information``: by class, ``{"c": -19.0}``, the weight of what it knows of x, in the place of α; one below zero
      rewards it. By exact masses, as ``marginal``: see :mod:`unknot.objectives.parts.class_parts`;
    * ``marginal``: by class, the weight of its share of (ii), in the place of one: all classes in use;
    * ``options``: how q(z) is estimated, as for :func:`~unknot.objectives.decomposition.decompose`.

    Returns ``Terms``: those of the decomposition, and ``information[c]``, ``marginal[c]`` of classes with a weight.
    """
    parts = decomposition_parts(q, p, dataset_size, groups, options)
    fixed = {RECONSTRUCTION: 1.0, MARGINAL: 1.0, MUTUAL_INFORMATION: alpha, ROOT: beta}
    chosen = {name: fixed.get(name, gamma) for name in parts.values}
    unknown = sorted(set(weights or {}) - set(chosen))
    if unknown:
        raise SpecError(
            f"hfvae: no terms {unknown} to weigh; with these groups there are {', '.join(chosen)}"
        )
    classes, class_weights = weighted_classes(q, p, information or {}, marginal or {}, alpha)
    values = {**parts.values, **classes}
    chosen |= weights or {}
    return expected_terms(q, p, values, {**chosen, **class_weights}, parts.details)


def _weighted(
    q: Trace,
    p: Trace,
    dataset_size: int,
    groups: Groups | None,
    weights: Mapping[str, float],
    options: Options,
) -> Terms:
    parts = decomposition_parts(q, p, dataset_size, groups, options)
    return expected_terms(q, p, parts.values, weights, parts.details)
