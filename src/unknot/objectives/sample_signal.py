"""Score-function gradients of objectives that are not means over draws.

Self-normalised weights (S17 Eq. 8) and the logarithm of a mean (Eq. 9) are functions F of all S draws of an
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
from unknot.core.node import Variable


def signal_score(sites: Sequence[Variable], whole: Tensor, without: Tensor | None) -> Tensor:
    """``Σ_s (log q_s - stop(log q_s)) (F - b_s)`` over the score-function sites, ``(B,)``: zero in value.

    ``whole`` is F, ``(B,)`` or ``(1, B)``; ``without`` is b, ``(S, B)``, None for a single draw. A site's own
    running mean takes the place of b. Sites drawn anew for each enumerated value count all their draws.
    """
    whole = whole.detach().reshape(whole.shape[-1])
    total: Tensor | None = None
    for node in sites:
        if not is_scored(node):
            continue
        if node.baseline is not None:
            signal = whole - node.baseline(whole)
        else:
            signal = whole if without is None else whole - without.detach()
        own = rise(node) * signal
        own = own.flatten(0, -2).sum(0) if own.ndim > 1 else own
        total = own if total is None else total + own
    assert total is not None
    return total


def leave_one_out_weights(log_weight: Tensor) -> Tensor:
    """Normalised weights without each draw in turn: ``(S, B) -> (S, S, B)``, row s has zero at draw s."""
    return _without_own(log_weight).softmax(SAMPLES)


def log_mean_without(log_values: Tensor) -> Tensor:
    """``log 1/(S-1) Σ_{s' != s} exp(a_s')`` for each draw s, ``(S, B)``."""
    return _without_own(log_values).logsumexp(SAMPLES) - math.log(log_values.shape[SAMPLES] - 1)


def _without_own(log_values: Tensor) -> Tensor:
    """``(S, B) -> (S, S, B)``: row s holds all values, with -inf at draw s."""
    samples = log_values.shape[SAMPLES]
    own = torch.eye(samples, dtype=torch.bool, device=log_values.device)[:, :, None]
    return log_values.expand(samples, *log_values.shape).masked_fill(own, -float("inf"))
