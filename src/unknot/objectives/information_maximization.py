"""The classes alone: an encoder that sorts items into classes, without labels and without the generative model."""

from __future__ import annotations

from torch import Tensor

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import expected_terms
from unknot.objectives.parts.class_parts import class_parts, class_sites
from unknot.objectives.parts.site_terms import log_terms
from unknot.objectives.terms import Terms


def information_maximization(q: Trace, p: Trace, information: float = 1.0, marginal: float = 0.0) -> Terms:
    """λ I(x; c) - μ KL(q̄(c) || p(c)) for every class c of the encoder, and p's log-terms (Krause et al. 2010).

    Rewards classes that are sure of every item and, over the items, as common as the prior says. Alone it finds any
    sorting of the items; which one is left to p's log-terms, for instance the agreement of two views of an item
    (:mod:`unknot.models.agreement`). To begin with, before the generative model joins: by then the style would
    explain all, and the class stays without use.

    Arguments:

    * ``q``: the encoder's trace of a batch;
    * ``p``: the decoder's, of which only the classes' priors and the log-terms count;
    * ``information``: λ, the reward of a nat of I(x; c);
    * ``marginal``: μ, the price of classes that are not as common as the prior says.

    Returns :class:`~unknot.objectives.terms.Terms`: ``information[c]`` (minus the information), ``marginal[c]``, by
    exact masses (:mod:`unknot.objectives.parts.class_parts`), and ``log_term[name]``.
    """
    names = class_sites(q)
    if not names:
        raise SpecError("information_maximization: the encoder has no class, a site with one of K values.")
    values: dict[str, Tensor] = {}
    weights: dict[str, float] = {}
    for name in names:
        own, spread = class_parts(q, p, name)
        values |= {f"information[{name}]": own, f"marginal[{name}]": spread}
        weights |= {f"information[{name}]": -information, f"marginal[{name}]": marginal}
    return expected_terms(q, p, {**values, **log_terms(q, p)}, weights)
