"""E_q[f]: from a value for every draw to one value per item, with the gradient each site asked for.

Both parts walk the sites from the last to the first: an enumerated site is summed out where it was made, so
that a score-function site *before* it sees Σ_k q(k | its draw) f(k), whose weights depend on that draw, and one
*after* it, drawn anew for each k, sees its own f(k).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.gradients.score_function import Baselines, leave_one_out
from unknot.core.log_space import where_unknown
from unknot.core.node import Variable
from unknot.core.trace import Trace


def expect(q: Trace, values: Tensor) -> Tensor:
    """``E_q[f]`` per item, shape ``(B,)``, from ``values`` f of shape ``(B,)``, ``(S, B)`` or ``(K, S, B)``.

    Enumerated sites are summed exactly, samples are averaged, and sites drawn without a pathwise gradient
    contribute the score-function term: its value is zero, its gradient is not.
    """
    sites = q.variables()
    score = score_term(sites, values)
    mean = average(sites, values)
    return mean if score is None else mean + score


def average(sites: Sequence[Variable], values: Tensor) -> Tensor:
    """The value of ``E_q[f]`` and its gradient through f, the enumeration weights and the draws, ``(B,)``."""
    for node in reversed(sites):
        values = _sum_out(node, values)
    return values.mean(SAMPLES) if values.ndim >= 2 else values


def score_term(
    sites: Sequence[Variable], values: Tensor, baselines: Baselines | None = None
) -> Tensor | None:
    """``Σ_sites mean_s (log q_s - stop(log q_s)) · stop(f_s - b_s)``, ``(B,)``: zero, but its gradient is not.

    Added to :func:`average` it completes the gradient of ``E_q[f]``. None if no site uses the score function.
    ``baselines`` is the caller's block, where a step has several such terms.
    """
    if not any(is_scored(node) for node in sites):
        return None
    if baselines is None:
        with Baselines() as baselines:
            return score_term(sites, values, baselines)
    values = values.detach()
    score: Tensor | None = None
    for node in reversed(sites):
        if is_scored(node):
            log_prob = rise(node)
            reward = _per_draw(log_prob, values)
            own = log_prob * (reward - _baseline(node, reward, baselines))
            score = own if score is None else score + own
        elif node.enumerated:
            values = _sum_out(node, values).detach()
            score = score if score is None else _sum_out(node, score)
    assert score is not None
    return score.mean(SAMPLES) if score.ndim >= 2 else score


def is_scored(node: Variable) -> bool:
    """Whether some items of this site were drawn with the score function, and a gradient is wanted."""
    return node.gradient == "score_function" and node.known is not True and torch.is_grad_enabled()


def rise(node: Variable) -> Tensor:
    """``log q - stop(log q)`` of the drawn items: zero, with the gradient of the log-probability.

    A draw that was masked later is a draw all the same: where it does not count it may still have decided on what does.
    """
    log_prob = where_unknown(node.known, node.drawn.log_prob)
    return log_prob - log_prob.detach()


def _sum_out(node: Variable, values: Tensor) -> Tensor:
    """Sum over the axis of an enumerated site, the leftmost one left; values without that axis stay."""
    if not node.enumerated or values.ndim < node.leading_dims:
        return values
    if node.impossible is not None:  # 0 · -inf is 0 here
        values = values.masked_fill(node.impossible, 0.0)
    return (node.weight * values).sum(0)


def _per_draw(log_prob: Tensor, values: Tensor) -> Tensor:
    """f per draw of a site: samples that share one draw, as of a sub-model without samples, are averaged.

    Another sample's value would be no baseline for them, since it depends on the same draw.
    """
    shared = log_prob.ndim < 2 or log_prob.shape[SAMPLES] == 1
    return values.mean(SAMPLES, keepdim=True) if shared and values.ndim >= 2 else values


def _baseline(node: Variable, values: Tensor, baselines: Baselines) -> Tensor:
    return leave_one_out(values) if node.baseline is None else baselines.read(node.baseline, values)
