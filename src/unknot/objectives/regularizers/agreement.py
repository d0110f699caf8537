"""Agreement: the predictions for an item and for an augmented view of it must agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from unknot.core.node import Variable
from unknot.core.program import Program
from unknot.core.site_prediction import first_draw, has_classes, label_or_prediction
from unknot.core.trace import Trace
from unknot.errors import SpecError


def agreement(
    program: Program,
    batch: Any,
    q: Trace,
    p: Trace,
    *,
    confidence: float | Mapping[str, float] = 0.95,
) -> dict[str, Tensor]:
    """Cross entropy between the labels or predictions of a batch and the predictions for an augmented view.

    The objective sees the items as they are, and the encoder also an augmented view x̃ of each. The penalty of a site v
    that takes labels is

        -log q(v | x̃)                where the label v is known,
        -1[c ≥ τ] log q(v̂ | x̃)       elsewhere, with v̂ the mode of q(v | x) and c its confidence.

    The first is the classification term of S17 Eq. 7 for the augmented view; the second uses the encoder's own
    prediction as the label (Lee 2013), where it is confident (Sohn et al. 2020). As a part of the objective it is a
    regularizer of the posterior (Ganchev et al. 2010). The prediction passes no gradient.

    A site of classes that takes no labels has two uncertain predictions, and each learns from the other:

        KL(q(c | x) || q(c | x̃)),

    as in Hu et al. (2017), with augmented in the place of adversarial views.

    Parameters
    ----------
    program : Program
        A program that can augment items (:meth:`~unknot.core.program.Program.augment`).
    batch : Batch
        The items, with the augmented view as ``second_view``.
    q, p : Trace
        The encoder's and the decoder's trace of the items.
    confidence : float or mapping from site to float, default=0.95
        Predictions with less confidence (τ) do not count.

    Returns
    -------
    dict from str to Tensor
        ``agreement_SITE``, one penalty per item.
    """
    if batch.second_view is None:
        raise SpecError(
            "agreement compares an item with an augmented view of it, but the model augments nothing; set "
            "model.augment, or leave the regularizer out."
        )
    factors, _ = program.factors_and_style(q, batch)
    names = [name for name in p if name in q and (name in factors or has_classes(q[name].dist))]
    predictions = {name: program.site_prediction(q[name]) for name in names}
    targets: dict[str, Tensor] = {}
    counts: dict[str, Tensor] = {}
    for name in names:
        threshold = confidence.get(name, 0.95) if isinstance(confidence, Mapping) else confidence
        if name in factors:
            targets[name], counts[name] = label_or_prediction(q[name], predictions[name], threshold)
        else:
            targets[name] = predictions[name].value
    values = {node.name: _value(program, node) for node in q.variables()}
    second = program.score_latents(batch.second_view, targets, values)
    penalties = {}
    for name in second:
        if name in factors:
            penalty = -(counts[name] * second[name].log_prob)
        else:
            penalty = divergence(first_draw(q[name].dist.logits, 1), second[name].dist.logits)
        penalties[f"agreement_{name}"] = penalty
    return penalties


def _value(program: Program, node: Variable) -> Tensor:
    """One value of each item, for the sites that depend on it: the first draw, or the mode of an enumerated site."""
    return program.site_prediction(node).value if node.enumerated else first_draw(node.value, node.event_dims)


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """KL(q(c | x) || q(c | x̃)), (B,), from the logits (B, K) of two views.

    >>> import torch
    >>> divergence(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]])).round(decimals=4)
    tensor([0.1201])
    """
    log_first = first.log_softmax(-1)
    return (log_first.exp() * (log_first - second.log_softmax(-1))).sum(-1)
