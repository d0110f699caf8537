"""Yes-or-no answers, relaxed."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from unknot.core.relaxed import BinaryConcrete
from unknot.core.trace import Trace
from unknot.models.families.bernoulli import BernoulliFamily


class RelaxedBernoulliFamily(BernoulliFamily):
    """Several yes-or-no answers, relaxed."""

    name = "relaxed_bernoulli"
    distributions = (BinaryConcrete,)
    default_gradient = None

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.relaxed_bernoulli(
            temperature, logits=outputs, value=value, name=self.spec.name, gradient=gradient, event_dims=1
        )
