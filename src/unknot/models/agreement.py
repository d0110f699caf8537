"""Agreement of two views: a jittered item must be read as the item itself.

The generative model and its encoder see the items as they are. For a node v that takes labels, the encoder also
sees a jittered view x̃ of each item, and the generative program gets the log-term

    λ · log q(v | x̃)               where the label v is known,
    λ · 1[c ≥ τ] · log q(v̂ | x̃)    elsewhere, with v̂ the best value of q(v | x) and c how sure it is.

For a class c that takes no labels both views are uncertain, and each learns from the other; the log-term is

    -λ · KL(q(c | x) || q(c | x̃)).

The first is the classifier term of S17 Eq. 7 on the jittered view, with the encoder's own reading in the place of a
label that nobody gave (Lee 2013), kept where the reading is sure (Sohn et al. 2020); it adds to the bound as a
regularizer of the posterior does (Ganchev et al. 2010). The reading carries no gradient; the divergence does, on both
sides (as in Hu et al. 2017, with jittered views in the place of adversarial ones).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.core.axes import per_item
from unknot.core.node import Variable


@dataclass(frozen=True)
class Reading:
    """What an encoder says of a node: its best value ``(B, D)``, and how sure it is, from 0 to 1, ``(B,)``."""

    value: Tensor
    confidence: Tensor


def target(node: Variable, reading: Reading, threshold: float) -> tuple[Tensor, Tensor]:
    """What the other view must be read as, ``(B, D)``, and for which items that counts, ``(B,)``.

    >>> from unknot import Trace, partial
    >>> q = Trace()
    >>> _ = q.concrete(torch.zeros(3, 2), 0.66, value=partial(torch.tensor([1, -1, -1])), name="y")
    >>> value, counts = target(q["y"], Reading(torch.tensor([[1.0, 0.0]] * 3), torch.tensor([0.5, 0.9, 0.6])), 0.8)
    >>> value.tolist(), counts.tolist()
    ([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], [True, True, False])
    """
    sure = reading.confidence >= threshold
    if node.known is False:
        return reading.value, sure
    known = torch.as_tensor(node.known, device=sure.device).expand_as(sure)
    label = first_draw(node.value if node.label is None else node.label, node.event_dims)
    return torch.where(per_item(known, node.event_dims), label, reading.value), known | sure


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """KL(q(c | x) || q(c | x̃)), (B,), of two views' logits (B, K).

    >>> divergence(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]])).round(decimals=4)
    tensor([0.1201])
    """
    log_first = first.log_softmax(-1)
    return (log_first.exp() * (log_first - second.log_softmax(-1))).sum(-1)


def first_draw(values: Tensor, event_dims: int) -> Tensor:
    """Values or parameters ``(..., B, event)`` at the first draw: ``(B, event)``."""
    extra = values.ndim - event_dims - 1
    return values.flatten(0, extra - 1)[0] if extra > 0 else values
