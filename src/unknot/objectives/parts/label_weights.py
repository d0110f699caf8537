"""Importance weights from the sites of q that an item has observed (S17 Eq. 6).

Draws come from the sites' own conditionals, q(z | x) if a label y comes after z, and not from q(z | x, y). The
weight of a draw corrects for that: it is the probability of the item's labels at the draw,

    w_s = q(y, z_s | x) / q(z_s | x) = Π_{observed sites} q(y_site | its parents at draw s)

whatever the graph, and whatever each item has observed. An item without labels has w_s = 1. Where the labels'
conditionals do not depend on draws the weights are constant and no correction is needed.

Enumerated sites that were not observed are summed exactly: with joint weights w_{k,s} and probabilities π_{k,s},
w_s = Σ_k π_{k,s} w_{k,s}, and given s the values have the posterior π_{k,s} w_{k,s} / w_s.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.log_space import where_known
from unknot.core.node import Known, Variable


@dataclass(frozen=True)
class LabelWeights:
    """The weights of all draws of a batch."""

    labelled: Known  # which items have observed something
    log_weight: Tensor  # log w_s, enumerated sites summed out: (B,) or (S, B), zero without labels
    log_joint: Tensor | None = None  # log w_{k,s}, (K, ..., S, B) or (S, B); None: the weights are constant
    within: Tensor | None = None  # posterior of the enumerated values given the draw, (K, ..., S, B)

    def mean_log(self) -> Tensor:
        """``(1/S) Σ_s log w_s``, S17 Eq. 7: a lower bound on log q(y | x), ``(B,)``."""
        return self.log_weight.mean(SAMPLES) if self.log_weight.ndim > 1 else self.log_weight

    def normalised(self, gradient: bool) -> Tensor | None:
        """``w_s / Σ_s w_s``, ``(S, B)``; None if all samples weigh the same."""
        if self.log_weight.ndim < 2 or self.log_weight.shape[SAMPLES] == 1:
            return None
        weight = self.log_weight.softmax(SAMPLES)
        return weight if gradient else weight.detach()

    def over_values(self, values: Tensor) -> Tensor:
        """Posterior mean over the enumerated sites: ``(K, ..., S, B) -> (S, B)``."""
        if self.within is None or values.ndim <= 2:
            return values
        return (self.within * values).flatten(0, -3).sum(0)

    def average(self, values: Tensor, normalised: Tensor | None) -> Tensor:
        """``Σ_s (w_s / Σ w) f_s`` with the enumerated sites' posterior inside (S17 Eq. 5): ``(B,)``."""
        values = self.over_values(values)
        if values.ndim < 2:
            return values
        if normalised is None:
            return values.mean(SAMPLES)
        return (normalised * values).sum(SAMPLES)


def label_weights(sites: list[Variable], observed: list[Variable] | None = None) -> LabelWeights | None:
    """The weights that the observed sites give; None if no site of q is observed for any item.

    ``observed`` counts the labels of some of the sites only, the first few of the program.
    """
    observed = [node for node in (sites if observed is None else observed) if node.known is not False]
    if not observed:
        return None
    labelled = _any_known(observed)
    if all(_is_constant(node) for node in observed):
        log_weight = _sum([where_known(node.known, _at_label(node)) for node in observed])
        return LabelWeights(labelled, log_weight)
    log_joint = _sum([where_known(node.known, node.log_prob) for node in observed])
    enumerated = [node.log_weight for node in sites if node.enumerated]
    if not enumerated:
        return LabelWeights(labelled, log_joint, log_joint)
    joint = _sum([log_joint, *enumerated])  # log π + log w, (K, ..., S, B)
    log_weight = where_known(labelled, joint.flatten(0, -3).logsumexp(0))
    return LabelWeights(labelled, log_weight, log_joint, (joint - log_weight).exp())


def _any_known(observed: list[Variable]) -> Known:
    labelled: Known = False
    for node in observed:
        if node.known is True:
            return True
        labelled = labelled | node.known
    return labelled


def _is_constant(node: Variable) -> bool:
    """Whether an observed site's conditional depends on no draw: its parameters have no axis before the batch."""
    shape = node.dist.batch_shape
    leading = len(shape) + len(node.dist.event_shape) - node.event_dims
    return shape[: max(0, leading - 1)].numel() == 1 and (node.active is None or node.active.ndim == 1)


def _at_label(node: Variable) -> Tensor:
    """log q(label), ``(B,)``, of a site whose conditional depends on no draw; only known items' values matter."""
    if node.enumerated:
        return (node.weight * node.log_prob).flatten(0, -2).sum(0)
    return node.log_prob if node.log_prob.ndim < 2 else node.log_prob.flatten(0, -2)[0]


def _sum(tensors: list[Tensor]) -> Tensor:
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total


def effective_samples(normalised: Tensor | None, like: Tensor, samples: int) -> Tensor:
    """``1 / Σ_s w̄_s²`` for normalised weights w̄ (Kong 1992): S if all weigh the same, 1 if one draw has it all."""
    if normalised is None:
        return torch.full_like(like, samples)
    return normalised.detach().square().sum(SAMPLES).reciprocal()
