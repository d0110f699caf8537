"""The classifier: the log-probability of an item's labels under the encoder, as a whole or label by label.

As a whole it is one term, ``classifier``, of weight α. With a weight for every labeled site it is taken apart by the
chain rule, in the order of the program: the part of a site is

    log q(y_i | y_1, ..., y_{i-1}, draw s) = log w_s(y_1, ..., y_i) - log w_s(y_1, ..., y_{i-1})

so that the parts add up to the whole: equal weights are one weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.elimination import Elimination, Factor, factor
from unknot.core.expectation import Part, conditionals, part_of, total
from unknot.core.node import Known, Variable
from unknot.core.numerics import where_known
from unknot.errors import SpecError
from unknot.objectives.terms import weighted_sum

# ---- Importance weights from the sites of q that an item has observed (S17 Eq. 6) ------------------------
# Draws come from the sites' own conditionals, q(z | x) if a label y comes after z, and not from q(z | x, y). The
# weight of a draw corrects for that: it is the probability of the item's labels at the draw,
#
#     w_s = q(y, z_s | x) / q(z_s | x) = Π_{observed sites} q(y_site | its parents at draw s)
#
# whatever the graph, and whatever each item has observed. Evidence ψ about a site counts by its probability,
# Σ_y q(y | ...) ψ(y), and the site draws given the evidence. An item without labels has w_s = 1. Where the labels'
# conditionals do not depend on draws the weights are constant and no correction is needed.
#
# Enumerated sites that were not observed are summed exactly: with joint weights w_{k,s} and probabilities π_{k,s},
# w_s = Σ_k π_{k,s} w_{k,s}, and given s the values have the posterior π_{k,s} w_{k,s} / w_s.


@dataclass(frozen=True)
class LabelWeights:
    """The weights of all draws of a batch.

    Attributes
    ----------
    labeled : bool or Tensor
        Which items have observed something.
    log_weight : Tensor
        log w_s, enumerated sites summed out: ``(B,)`` or ``(S, B)``, zero without labels.
    joint : list of Part
        log w_{k,s} by site; empty if the weights are constant.
    factors : list of Factor
        log π and log w, whose product is the posterior of the enumerated sites; empty without enumerated sites.
    """

    labeled: Known
    log_weight: Tensor
    joint: list[Part]
    factors: list[Factor]

    @property
    def constant(self) -> bool:
        """Whether all draws of an item have the same weight."""
        return not self.joint

    def mean_log(self) -> Tensor:
        """``(1/S) Σ_s log w_s``, S17 Eq. 7: a lower bound on log q(y | x), ``(B,)``."""
        return self.log_weight.mean(SAMPLES) if self.log_weight.ndim > 1 else self.log_weight

    def normalized(self, gradient: bool) -> Tensor | None:
        """``w_s / Σ_s w_s``, ``(S, B)``; None if all samples weigh the same."""
        if self.log_weight.ndim < 2 or self.log_weight.shape[SAMPLES] == 1:
            return None
        weight = self.log_weight.softmax(SAMPLES)
        return weight if gradient else weight.detach()

    def over_values(self, parts: Mapping[str, Sequence[Part]]) -> dict[str, Tensor]:
        """Posterior mean over the enumerated sites of every named sum of parts: ``(S, B)``, or ``(B,)``."""
        if not self.factors:
            return {name: total(values) for name, values in parts.items()}
        terms = {
            name: [factor(one.value, one.axes, one.name) for one in values] for name, values in parts.items()
        }
        return Elimination(list(self.factors), terms).run().means()

    def averages(self, parts: Mapping[str, Sequence[Part]], normalized: Tensor | None) -> dict[str, Tensor]:
        """``Σ_s (w_s / Σ w) f_s`` with the enumerated sites' posterior inside (S17 Eq. 5): ``(B,)`` each."""
        return {name: _mean(values, normalized) for name, values in self.over_values(parts).items()}


def _mean(values: Tensor, normalized: Tensor | None) -> Tensor:
    if values.ndim < 2:
        return values
    return values.mean(SAMPLES) if normalized is None else (normalized * values).sum(SAMPLES)


def label_weights(
    sites: list[Variable],
    observed: list[Variable] | None = None,
    part: Callable[[Variable, Tensor], Part] = part_of,
) -> LabelWeights | None:
    """The weights that the observed sites give; None if no site of q is observed for any item.

    ``observed`` counts the labels of some of the sites only, the first few of the program. ``part`` makes the part of
    a site's labels; one that knows the program says which draws they depend on.
    """
    observed = [node for node in (sites if observed is None else observed) if node.known is not False]
    if not observed:
        return None
    labeled = _any_known(observed)
    if all(_is_constant(node) for node in observed):
        log_weight = _sum([_at_label(node) for node in observed])
        return LabelWeights(labeled, log_weight, [], [])
    joint = [part(node, node.log_label()) for node in observed]
    enumerated = [node for node in sites if node.enumerated]
    if not enumerated:
        return LabelWeights(labeled, total(joint), joint, [])
    factors = [*conditionals(enumerated).values(), *(factor(one.value, one.axes, one.name) for one in joint)]
    log_weight = where_known(labeled, Elimination(list(factors)).run().log_total())
    return LabelWeights(labeled, log_weight, joint, factors)


def _any_known(observed: list[Variable]) -> Known:
    labeled: Known = False
    for node in observed:
        if node.known is True:
            return True
        labeled = labeled | node.known
        if node.evidence is not None:
            labeled = labeled | node.evidence.informed
    return labeled


def _is_constant(node: Variable) -> bool:
    """Whether an observed site's conditional depends on no draw: its parameters have no axis before the batch."""
    shape = node.dist.batch_shape
    leading = len(shape) + len(node.dist.event_shape) - node.event_dims
    return shape[: max(0, leading - 1)].numel() == 1 and (node.active is None or node.active.ndim == 1)


def _at_label(node: Variable) -> Tensor:
    """log q(label), ``(B,)``, of a site whose conditional depends on no draw; zero where nothing is known."""
    if node.enumerated and node.evidence is None:
        return where_known(node.known, (node.weight * node.log_prob).flatten(0, -2).sum(0))
    if node.enumerated:
        return (node.weight * node.log_label()).flatten(0, -2).sum(0)
    log_label = node.log_label()
    return log_label if log_label.ndim < 2 else log_label.flatten(0, -2)[0]


def _sum(tensors: list[Tensor]) -> Tensor:
    found = tensors[0]
    for tensor in tensors[1:]:
        found = found + tensor
    return found


def effective_samples(normalized: Tensor | None, like: Tensor, samples: int) -> Tensor:
    """``1 / Σ_s w̄_s²`` for normalized weights w̄ (Kong 1992): S if all weigh the same, 1 if one draw has it all."""
    if normalized is None:
        return torch.full_like(like, samples)
    return normalized.detach().square().sum(SAMPLES).reciprocal()


Number = float | Tensor


@dataclass(frozen=True)
class Classifier:
    """Log-probabilities of labels at every draw, by name of the term, and the terms' weights."""

    per_draw: dict[str, Tensor]  # (B,) or (S, B) each
    weights: dict[str, Number]

    def terms(self) -> dict[str, Tensor]:
        """``(1/S) Σ_s log w_s`` of each (S17 Eq. 7), ``(B,)``."""
        return {name: v.mean(SAMPLES) if v.ndim > 1 else v for name, v in self.per_draw.items()}

    def weighted(self) -> Tensor:
        """``α log w_s``, the sum over labels, ``(B,)`` or ``(S, B)``."""
        return weighted_sum(self.per_draw, self.weights)


def classifier(
    sites: list[Variable], labels: LabelWeights | None, alpha: Number | Mapping[str, Number], like: Tensor
) -> Classifier:
    """The terms of the labels: one, or ``classifier[site]`` for each labeled site if ``alpha`` is a mapping.

    A labeled site that ``alpha`` does not name has weight one. Without labels the terms are zero, for as many items as
    ``like`` has, ``(..., B)``.
    """
    nothing = like.new_zeros(like.shape[-1:])
    if not isinstance(alpha, Mapping):
        whole = nothing if labels is None else labels.log_weight
        return Classifier({"classifier": whole}, {"classifier": alpha})
    names = [node.name for node in sites]
    for name in alpha:
        if name not in names:
            raise SpecError(f"alpha: q has no site '{name}'; it has {', '.join(names)}.")
    parts = {**dict.fromkeys(alpha, nothing), **_by_site(sites)}
    return Classifier(
        {f"classifier[{name}]": part for name, part in parts.items()},
        {f"classifier[{name}]": alpha.get(name, 1.0) for name in parts},
    )


def _by_site(sites: list[Variable]) -> dict[str, Tensor]:
    """The parts of log w by the chain rule, in the order of the program."""
    parts: dict[str, Tensor] = {}
    before: Tensor | None = None
    for count, node in enumerate(sites, start=1):
        if node.known is False:
            continue
        labels = label_weights(sites, observed=sites[:count])
        assert labels is not None
        parts[node.name] = labels.log_weight if before is None else labels.log_weight - before
        before = labels.log_weight
    return parts
