"""The posterior of enumerated sites given the data: marginals, samples, and the most likely assignment."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unknot.core.axes import Axis
from unknot.core.elimination import Elimination, Factor, aligned, factor
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.importance_weighted import log_weight_parts
from unknot.objectives.parts.site_terms import SiteParts, check_pair

KINDS = ("marginals", "sample", "mode")


def infer_discrete(q: Trace, p: Trace, kind: str = "marginals") -> dict[str, Tensor]:
    """Infer the sites that q enumerates from the data and, where they are known, the labels of other sites.

    The posterior p(k | x, y) of all enumerated sites k is summed exactly, site by site, for any graph: for a chain it
    is the forward-backward algorithm (``marginals``), forward filtering and backward sampling (``sample``), or the
    Viterbi algorithm (``mode``). Other latent sites stand at their draws: with S samples, marginals are averaged with
    the importance weights p / q of the draws.

    Parameters
    ----------
    q, p : Trace
        The encoder's and the decoder's trace of a batch.
    kind : {"marginals", "sample", "mode"}, default="marginals"
        What to return. A sample or a mode is one assignment of all sites jointly; it needs traces without samples.

    Returns
    -------
    dict from site name to Tensor
        Marginals are probabilities ``(B, K)``. Samples and modes are indices into the site's values, ``(B,)``.

    Examples
    --------
    >>> q, p = Trace(), Trace()
    >>> k = q.categorical(logits=torch.zeros(2, 3), gradient="enumerate", name="k")
    >>> _ = p.categorical(logits=torch.zeros(3), value=q["k"], name="k")
    >>> _ = p.normal(k.float(), 0.5, value=torch.tensor([0.0, 2.0]), name="x")
    >>> infer_discrete(q, p, "mode")
    {'k': tensor([0, 2])}
    """
    if kind not in KINDS:
        raise SpecError(f"infer_discrete: kind is one of {', '.join(KINDS)}, but got {kind!r}.")
    check_pair(q, p)
    sites = {node.name: node for node in q.variables() if node.enumerated}
    if not sites:
        raise SpecError("infer_discrete: no site of q is enumerated; say gradient='enumerate' at the site")
    factors = [factor(one.value, one.axes, one.name) for one in log_weight_parts(SiteParts(q, p))]
    if kind == "marginals":
        return _marginals(sites, factors)
    if any(one.table.shape[-2] > 1 for one in factors):
        raise SpecError(
            f"infer_discrete: a {kind} is one assignment, but the traces have samples; use marginals"
        )
    return _assignment(sites, factors, kind == "sample")


def _marginals(sites: dict[str, Variable], factors: Sequence[Factor]) -> dict[str, Tensor]:
    """The derivative of log Z with respect to a potential of each value that is added to it (and is zero)."""
    axes = {name: _axis(node) for name, node in sites.items()}
    items = max(one.table.shape[-1] for one in factors)
    with torch.enable_grad():
        fixed = [Factor(one.axes, one.table.detach()) for one in factors]
        like = next(iter(sites.values())).mass().detach()
        potentials = {
            name: like.new_zeros(axis.size, 1, items, requires_grad=True) for name, axis in axes.items()
        }
        added = [
            Factor((axes[name],), potential) for name, potential in potentials.items() if axes[name].size > 1
        ]
        total = Elimination([*fixed, *added]).run().log_total()  # (S, B)
        log_evidence = total.logsumexp(0).sum()
        wanted = [potential for name, potential in potentials.items() if axes[name].size > 1]
        slopes = iter(torch.autograd.grad(log_evidence, wanted)) if wanted else iter(())
    return {
        name: next(slopes)[:, 0].mT if axis.size > 1 else like.new_ones(items, 1)
        for name, axis in axes.items()
    }


@torch.no_grad()
def _assignment(sites: dict[str, Variable], factors: Sequence[Factor], draw: bool) -> dict[str, Tensor]:
    """Eliminate, then choose the sites in the opposite order, each given those that are chosen."""
    work = Elimination(factors, largest=not draw, remember=True).run()
    items = max(one.table.shape[-1] for one in factors)
    chosen: dict[Axis, Tensor] = {}
    for axis, joint in reversed(work.history):
        logits = aligned(joint, joint.axes)[..., 0, :].expand(*(one.size for one in joint.axes), items)
        rows = torch.arange(items, device=logits.device)
        index: tuple[slice | Tensor, ...] = (slice(None), *(chosen[one] for one in joint.axes[1:]), rows)
        logits = logits[index]  # (K, B)
        if draw:
            chosen[axis] = torch.distributions.Categorical(logits=logits.mT, validate_args=False).sample()
        else:
            chosen[axis] = logits.argmax(0)
    zero = torch.zeros(items, dtype=torch.long, device=factors[0].table.device)
    return {name: chosen.get(_axis(node), zero) for name, node in sites.items()}


def _axis(node: Variable) -> Axis:
    assert node.axis is not None
    return node.axis
