"""Agreement: the recogniser must read a jittered image as it reads the image itself.

For a node v that takes labels, and an item whose label is not known, the generative program gets the factor

    λ · 1[c ≥ τ] · log q(v̂ | x̃),      v̂ the best value and c the confidence of q(v | x)

with x the item and x̃ its jittered view. It is the classifier term of S17 Eq. 7 with the recogniser's own reading
in the place of a label (Lee 2013), kept where the reading is sure (Sohn et al. 2020), and it adds to the bound as a
regulariser of the posterior does (Ganchev et al. 2010). The reading carries no gradient.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.core.trace import Trace


@dataclass(frozen=True)
class Reading:
    """What the recogniser says of one node of the plain items: best value ``(B, D)``, confidence ``(B,)``."""

    value: Tensor
    confidence: Tensor


def add_agreement(
    q: Trace, p: Trace, readings: Mapping[str, Reading], weight: float, threshold: float
) -> None:
    """Add the factor ``agreement_NODE`` to p for every node that was read from the plain items.

    >>> logits = torch.tensor([[3.0, 0.0], [3.0, 0.0]])
    >>> q, p = Trace(), Trace()
    >>> _ = q.one_hot_categorical(logits=logits, name="y")
    >>> sure = Reading(torch.eye(2), torch.tensor([0.9, 0.5]))
    >>> add_agreement(q, p, {"y": sure}, weight=10.0, threshold=0.8)
    >>> p["agreement_y"].log_prob
    tensor([-0.4859, -0.0000])
    """
    for name, reading in readings.items():
        node = q[name]
        counted = reading.confidence >= threshold  # (B,)
        counted = counted & ~torch.as_tensor(node.known, device=counted.device)
        scored = (
            Trace()
        )  # an observed site of the jittered view's distribution: classes by mass, as labels are
        scored.variable(node.dist, reading.value, name=name)
        p.factor(weight * counted * scored[name].log_prob, name=f"agreement_{name}")
