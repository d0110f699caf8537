"""Yes-or-no answers, drawn as they are or relaxed."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Distribution

from unknot.core.relaxed import BinaryConcrete
from unknot.core.site_prediction import SitePrediction, first_draw
from unknot.core.trace import Trace
from unknot.models.families.family import Family


class BernoulliFamily(Family):
    """Several yes-or-no answers."""

    name = "bernoulli"
    distributions: ClassVar[tuple[type[Distribution], ...]] = (Bernoulli,)
    default_gradient: ClassVar[str | None] = "straight_through"
    generating_gradient = "score_function"

    @classmethod
    def class_count(cls, size: int) -> int:
        return 2 if size == 1 else 0  # several answers are no classes

    @property
    def parameters_size(self) -> int:
        return self.size

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.bernoulli(
            logits=outputs, value=value, name=self.spec.name, gradient=gradient, event_dims=1
        )

    def prediction(self, dist: Any) -> SitePrediction:
        probs = first_draw(dist.probs.detach(), 1)
        sure = torch.maximum(probs, 1 - probs).amin(-1)  # of the least sure answer
        return SitePrediction((probs > 0.5).to(probs.dtype), sure)

    def prior_outputs(self) -> Tensor:
        return torch.zeros(self.size)


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
