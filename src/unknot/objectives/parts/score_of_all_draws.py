"""Score-function gradients of objectives that are not means over draws.

Self-normalized weights (S17 Eq. 8) and the logarithm of a mean (Eq. 9) are functions F of all S draws of an
item together. Their gradient is

    ∇ E F = E [ ∇F + Σ_s (F - b_s) ∇ log q(draw s) ]

where b_s, F computed without draw s, leaves the expectation as it is and takes most of the variance away
(Mnih & Rezende 2016 do so for Eq. 9's bound).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.expectation import is_scored, rise
from unknot.core.gradients import Baselines
from unknot.core.node import Variable


def score_of_all_draws(
    sites: Sequence[Variable], whole: Tensor, without: Tensor | None, baselines: Baselines | None = None
) -> Tensor:
    """``Σ_s (log q_s - stop(log q_s)) (F - b_s)`` over the score-function sites, ``(B,)``: zero in value.

    ``whole`` is F, ``(B,)`` or ``(1, B)``; ``without`` is b, ``(S, B)``, None for a single draw. A site's own
    running mean takes the place of b. Sites drawn anew for each enumerated value count all their draws; a site
    whose one draw all samples share has no b, since F without a sample still depends on that draw. ``baselines`` is
    the caller's block, where a step has several such terms.
    """
    if baselines is None:
        with Baselines() as baselines:
            return score_of_all_draws(sites, whole, without, baselines)
    whole = whole.detach().reshape(whole.shape[-1])
    total: Tensor | None = None
    for node in sites:
        if not is_scored(node):
            continue
        own = rise(node)
        if node.baseline is not None:
            own = own * (whole - baselines.read(node.baseline, whole))
        elif without is None or own.ndim < 2 or own.shape[SAMPLES] == 1:
            own = own * whole
        else:
            own = own * (whole - without.detach())
        own = own.flatten(0, -2).sum(0) if own.ndim > 1 else own
        total = own if total is None else total + own
    assert total is not None
    return total


def mean_without(log_weight: Tensor, values: Tensor) -> Tensor:
    """``Σ_{s' != s} w_s' f_s' / Σ_{s' != s} w_s'`` for each draw s, ``(S, B)``.

    In log space, with f shifted to be positive, so that a draw with nearly all the weight does no harm.
    """
    lowest = values.amin(SAMPLES, keepdim=True)
    top = _log_sum_without(log_weight + (values - lowest).log())
    return lowest + (top - _log_sum_without(log_weight)).exp()


def log_mean_without(log_values: Tensor) -> Tensor:
    """``log 1/(S-1) Σ_{s' != s} exp(a_s')`` for each draw s, ``(S, B)``."""
    return _log_sum_without(log_values) - math.log(log_values.shape[SAMPLES] - 1)


def _log_sum_without(log_values: Tensor) -> Tensor:
    """``log Σ_{s' != s} exp(a_s')``: the sum over the draws before s, and over those after."""
    before = log_values.logcumsumexp(SAMPLES)[:-1]
    after = log_values.flip(SAMPLES).logcumsumexp(SAMPLES).flip(SAMPLES)[1:]
    nothing = torch.full_like(log_values[:1], -float("inf"))
    return torch.logaddexp(torch.cat([nothing, before]), torch.cat([after, nothing]))
