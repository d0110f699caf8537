"""The evidence lower bound."""

from __future__ import annotations

from torch import Tensor

from unknot.core.expectation import averages, score_term
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.objectives.parts.closed_form import negative_kl
from unknot.objectives.parts.site_terms import SiteParts, check_pair, weighted
from unknot.objectives.terms import Terms


def elbo(q: Trace, p: Trace, beta: float | Tensor = 1.0, *, analytic: bool = False) -> Terms:
    """The evidence lower bound (S17 Eq. 1) of whatever each item has observed,

        L(x, y) = E_q(z|x,y) [ log p(x, y, z) - log q(z | x, y) ]  <=  log p(x, y)

    with y the latents that were observed, z those that were drawn; y may differ from item to item. In S17 Eq. 1
    nothing is. Here q(z | x, y) is the product of the drawn sites' conditionals, which is a proposal for any
    graph: the bound holds; :func:`semi_supervised` corrects it towards q's own posterior.

    Arguments:

    * ``q``, ``p``: the encoder's and the decoder's trace of a batch;
    * ``beta``: the weight of all ``kl`` terms (β-VAE); 1 is the bound;
    * ``analytic``: take a KL divergence in closed form where torch knows one and p's parents of the site do not depend
      on its draw; the expectation is the same, the variance smaller.

    Returns :class:`~unknot.objectives.terms.Terms`, as they enter the bound:

    * ``reconstruction``: log p of the data (all sites of p that q does not propose), and ``log_term[name]`` for
      every log-term that p adds;
    * ``kl[site]`` for each site of q: log p - log q where it was drawn, whose expectation is minus a KL
      divergence, and log p where it was observed.

    Enumerated sites are summed exactly, so with ``gradient="enumerate"`` this is the marginalized objective of
    Kingma et al.'s M2 model without its classifier; plug-in sites (S16 sec. 2.2) enter with their probability
    vector and its exact KL.

    >>> from unknot import Trace
    >>> q, p = Trace(samples=5), Trace()
    >>> _ = q.normal(torch.zeros(4), 1.0, name="z")
    >>> z = p.normal(0.0, 1.0, value=q["z"], name="z")
    >>> _ = p.normal(z, 1.0, value=torch.zeros(4), name="x")
    >>> terms = elbo(q, p)
    >>> list(terms), terms["kl[z]"].shape, terms.loss.shape
    (['reconstruction', 'kl[z]'], torch.Size([4]), torch.Size([]))
    """
    check_pair(q, p)
    site_parts = SiteParts(q, p)
    parts = site_parts.data_and_log_terms()
    weights: dict[str, float | Tensor] = dict.fromkeys(parts, 1.0)
    for node in q.nodes():
        closed = negative_kl(node, q, p) if analytic and isinstance(node, Variable) else None
        name = f"kl[{node.group or node.name}]"
        values = site_parts.log_ratio(node) if closed is None else [site_parts.of_both(node, closed)]
        parts.setdefault(name, []).extend(values)
        weights[name] = beta
    terms = averages(site_parts.sites, parts)
    score = score_term(site_parts.sites, weighted(parts, weights)) if site_parts.is_scored else None
    return Terms(terms, weights, score=score)
