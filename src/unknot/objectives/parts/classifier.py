"""The classifier: the log-probability of an item's labels under the encoder, as a whole or label by label.

As a whole it is one term, ``classifier``, of weight α. With a weight for every labeled site it is taken apart by the
chain rule, in the order of the program: the part of a site is

    log q(y_i | y_1, ..., y_{i-1}, draw s) = log w_s(y_1, ..., y_i) - log w_s(y_1, ..., y_{i-1})

so that the parts add up to the whole: equal weights are one weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from unknot.core.axes import SAMPLES
from unknot.core.node import Variable
from unknot.errors import SpecError
from unknot.objectives.parts.label_weights import LabelWeights, label_weights
from unknot.objectives.terms import weighted_sum

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
