"""One of K classes, as it is."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.distributions import Categorical, OneHotCategorical

from unknot.core.trace import Trace
from unknot.models.families.concrete import ConcreteFamily


class CategoricalFamily(ConcreteFamily):
    """One of K classes as a one-hot vector, enumerated unless another gradient is named."""

    name = "categorical"
    distributions = (OneHotCategorical, Categorical)
    suits = ()
    default_gradient = "enumerate"

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.one_hot_categorical(
            logits=outputs, value=value, name=self.spec.name, gradient=gradient, event_dims=1
        )
