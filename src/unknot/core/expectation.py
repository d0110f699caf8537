"""E_q[f]: from a value for every draw to one value per item, with the gradient each site asked for."""

from __future__ import annotations

from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.gradients.score_function import leave_one_out
from unknot.core.log_space import where_unknown
from unknot.core.trace import Trace


def expect(q: Trace, values: Tensor) -> Tensor:
    """``E_q[f]`` per item, shape ``(B,)``, from ``values`` f of shape ``(B,)``, ``(S, B)`` or ``(K, S, B)``.

    Enumerated sites are summed exactly, samples are averaged, and sites drawn without a pathwise gradient
    contribute the score-function term: its value is zero, its gradient is not.
    """
    values = with_score(q, values)
    values = sum_enumerated(q, values)
    return values.mean(SAMPLES) if values.ndim >= 2 else values


def sum_enumerated(q: Trace, values: Tensor) -> Tensor:
    """``Σ_k q(k) f(k)`` over all enumerated sites together: ``(K2, K1, S, B) -> (S, B)``."""
    weight = enumeration_weight(q)
    if weight is None:
        return values
    weighted = weight * values  # (K..., S, B)
    return weighted.flatten(0, -3).sum(0) if weighted.ndim > 2 else weighted


def enumeration_weight(q: Trace) -> Tensor | None:
    """Joint weight of the enumerated sites' values, ``(K2, K1, S, B)``; None if nothing is enumerated."""
    weight: Tensor | None = None
    for node in q.variables():
        if node.enumerated:
            weight = node.weight if weight is None else weight * node.weight
    return weight


def with_score(q: Trace, values: Tensor) -> Tensor:
    """Attach ``(log q - stop(log q)) · stop(f - b)`` for every site drawn with the score function."""
    for node in q.variables():
        if node.gradient != "score_function" or node.known is True:
            continue
        log_prob = where_unknown(node.known, node.log_prob)
        baseline = node.baseline(values) if node.baseline is not None else leave_one_out(values.detach())
        values = values + (log_prob - log_prob.detach()) * (values.detach() - baseline)
    return values
