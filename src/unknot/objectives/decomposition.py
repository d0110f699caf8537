"""The ELBO taken apart into named terms over a tree of groups (E19 Figs. 1 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, Unpack

from torch import Tensor

from unknot.core.expectation import Part, average, score_term
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import Encoder, Parents, with_programs
from unknot.objectives.marginal.inference_marginal import InferenceMarginal
from unknot.objectives.marginal.marginal_tree import Groups
from unknot.objectives.parts.groups import as_groups, correlations, fold_within, is_flat, marginal
from unknot.objectives.parts.site_terms import check_pair, log_conditional, proposals, reconstruction
from unknot.objectives.prior.prior_marginal import PriorMarginal, without_evidence
from unknot.objectives.prior.prior_parents import PriorProgram
from unknot.objectives.terms import Terms, weighted_sum

RECONSTRUCTION = "reconstruction"
MUTUAL_INFORMATION = "mutual_information"


class Options(TypedDict, total=False):
    """Keywords that every objective built on the decomposition takes, and hands on to :func:`decompose`."""

    estimator: str
    reference: Trace | None
    independent: bool
    encoder: Encoder | None
    parents: Parents | None
    all_pairs: bool
    pairs: int
    draws: int
    vectorized: bool
    prior: PriorProgram | None
    prior_draws: int
    prior_parents: Parents | None


@dataclass(frozen=True)
class Parts:
    """The terms before expectation and weights, over leading axes, and further values worth logging."""

    values: dict[str, Tensor]
    details: dict[str, Tensor]


def decompose(
    q: Trace,
    p: Trace,
    dataset_size: int,
    groups: Groups | None = None,
    **options: Unpack[Options],
) -> Terms:
    """The ELBO as a sum of terms, each with its own meaning (E19 Figs. 1 and 3).

    ======================  =======  ====================================================================
    ``reconstruction``      (1)+(3)  log p(x | z)
    ``mutual_information``  (2)      log q(z) - log q(z | x): minus the information that z keeps of x
    ``between``             (A)      minus the correlation between groups in q(z), beyond the prior's
    ``within``              (i)      the same inside the groups, down to single dimensions
    ``marginal``            (ii)     log p(z_d) - log q(z_d): single dimensions against their prior
    ======================  =======  ====================================================================

    Single dimensions of a multivariate normal count one by one, as those of a diagonal one do. A vector whose single
    dimensions have no closed form is refused: see :mod:`unknot.objectives.marginal.leaf_logs`.

    The terms add up to :func:`~unknot.objectives.elbo.elbo`, draw by draw and whatever estimates q(z): every log q
    and log p of an inner node occurs twice, with opposite signs. So the sum proves nothing about the estimates.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``dataset_size``: N, the number of training items. It has no default: a batch does not tell;
    * ``groups``: a tree, that is a list of variables, or a dict of named groups, to any depth; by default each variable
      is a group. If some group has several members, ``within`` is split into one term for every inner node,
      ``between[style]`` and ``within[z]``, and their sum is in ``diagnostics``: see
      :mod:`unknot.objectives.parts.groups`.

    and as ``options``:

    * ``estimator``, ``reference``: how q(z) is estimated, see
      :class:`~unknot.objectives.marginal.inference_marginal.InferenceMarginal`;
    * ``encoder``, ``parents``: which variables depend on each other in the encoder. With several variables one of the
      two is needed, a trace does not tell; ``parents={}`` says that none does
      (:mod:`unknot.objectives.marginal.encoder_parents`);
    * ``pairs``, ``all_pairs``, ``draws``, ``vectorized``: for encoders whose variables do, see
      :class:`~unknot.objectives.marginal.inference_marginal.InferenceMarginal`;
    * ``prior``, ``prior_draws``, ``prior_parents``: for priors whose variables do, see
      :mod:`unknot.objectives.prior.prior_marginal`.

    Returns :class:`~unknot.objectives.terms.Terms`, all with weight one. Items that know a variable's value
    contribute log p there and no log q(y | x), as in the ELBO; the marginals of a label are those of the encoder,
    by mass: see :mod:`unknot.objectives.marginal.variable_pairs`. Items with evidence ψ on a variable draw it given the
    evidence; its marginals are those of the encoder without, and log ψ of the draw belongs to ``reconstruction``.

    >>> import torch
    >>> q, p = Trace(), Trace()
    >>> _ = q.concrete(torch.randn(64, 10, requires_grad=True), 0.66, name="y")
    >>> _ = q.normal(torch.randn(64, 5, requires_grad=True), 0.5, name="z")
    >>> _ = p.concrete(torch.zeros(10), 0.66, value=q["y"], name="y")
    >>> _ = p.normal(0.0, 1.0, value=q["z"], name="z")
    >>> list(decompose(q, p, dataset_size=60000, groups={"content": ["y"], "style": ["z"]}, parents={"y": [], "z": []}))
    ['reconstruction', 'mutual_information', 'between', 'within', 'marginal']
    """
    parts = decomposition_parts(q, p, dataset_size, groups, options)
    return expected_terms(q, p, parts.values, {}, parts.details)


def decomposition_parts(
    q: Trace, p: Trace, dataset_size: int, groups: Groups | None, options: Options
) -> Parts:
    """The terms of :func:`decompose` for every draw, before expectation."""
    check_pair(q, p)
    tree = as_groups(groups, [node.name for node in q.variables()])
    marginals, prior = split_options(q, p, dataset_size, options)
    log_q = marginals.tree(q, tree)
    log_p = prior.tree(q, p, tree, log_q)
    named = correlations(log_q, log_p)
    folded = fold_within(named)
    flat = is_flat(tree)
    values = {
        RECONSTRUCTION: _with_evidence(q, p, reconstruction(q, p)),
        MUTUAL_INFORMATION: log_q.log_q - log_conditional(q),
        **(folded if flat else named),
        "marginal": marginal(log_q, log_p),
    }
    other = named if flat else folded
    return Parts(values, {name: value for name, value in other.items() if name not in values})


def _with_evidence(q: Trace, p: Trace, data: Tensor) -> Tensor:
    """log ψ of the draws beside log p of the data: evidence is data, whose likelihood is ψ."""
    for node in q.variables():
        theirs = p[node.name]
        pure = without_evidence(theirs)
        if pure is not theirs:
            data = data + (theirs.log_prob - pure.log_prob)
    return data


def split_options(
    q: Trace, p: Trace | None, dataset_size: int, options: Options
) -> tuple[InferenceMarginal, PriorMarginal]:
    """Options for the two sides, the inference marginal and the prior, completed from the programs of the traces."""
    _refuse_reused_axes(q)
    unknown = sorted(options.keys() - Options.__annotations__.keys())
    if unknown:
        raise SpecError(f"unknown options {unknown}; decompose takes {', '.join(Options.__annotations__)}")
    complete = with_programs(q, p, options)
    inference = {key: value for key, value in complete.items() if not key.startswith("prior")}
    marginals = InferenceMarginal(dataset_size, **inference)
    prior = PriorMarginal(
        complete.get("prior"), complete.get("prior_draws", 256), complete.get("prior_parents")
    )
    return marginals, prior


def _refuse_reused_axes(q: Trace) -> None:
    """The marginal of all variables together needs an axis for each enumerated site."""
    slots: dict[int, str] = {}
    for node in q.variables():
        if node.axis is None:
            continue
        other = slots.setdefault(node.axis.slot, node.name)
        if other != node.name:
            raise SpecError(
                f"the decomposition needs an axis for each enumerated site, but '{node.name}' uses that of '{other}' "
                "again, in a markov loop; write a short chain as a loop over scopes, or draw the sites of a long one"
            )


def expected_terms(
    q: Trace,
    p: Trace,
    values: Mapping[str, Tensor],
    weights: Mapping[str, float | Tensor],
    details: Mapping[str, Tensor] | None = None,
) -> Terms:
    """Average every term over draws to one value per item; the score-function gradient is that of their sum."""
    sites = proposals(q, p)
    total = weighted_sum(values, weights)
    return Terms(
        {name: average(sites, value) for name, value in values.items()},
        weights,
        diagnostics={name: average(sites, value).detach() for name, value in (details or {}).items()},
        score=score_term(sites, [Part(total, q.axes, "the objective")]),
    )
