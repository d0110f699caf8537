"""How many nats the codes use, and how many they should: one capacity for all, or one for each variable."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from unknot.core.expectation import average
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.gather import gather_items
from unknot.objectives.parts.class_parts import class_parts, class_sites
from unknot.objectives.parts.site_terms import log_ratio, proposals
from unknot.suggest import did_you_mean


def excess_by_site(q: Trace, p: Trace, capacities: Mapping[str, float]) -> dict[str, Tensor]:
    """KL(q(v | x) || p(v)) - C_v of every variable v, a scalar each, as ``capacity[v]`` (Dupont 2018).

    The divergence is the mean over the global batch; that of a class is by its exact masses, of others by draws.
    """
    names = [node.name for node in q.variables()]
    for name in capacities:
        if name not in names:
            raise SpecError(f"capacity_vae, C: there is no variable '{name}'; {did_you_mean(name, names)}")
    missing = [name for name in names if name not in capacities]
    if missing:
        raise SpecError(
            f"capacity_vae, C: it has no capacity for {', '.join(missing)}; say one for each, or one number."
        )
    classes, sites = class_sites(q), proposals(q, p)
    found: dict[str, Tensor] = {}
    for node in q.variables():
        parts = class_parts(q, p, node.name) if node.name in classes else (log_ratio(node, p),)
        log_ratios = sum(parts[1:], start=parts[0])
        kl = -gather_items(average(sites, log_ratios)).mean()
        found[f"capacity[{node.name}]"] = kl - capacities[node.name]
    return found
