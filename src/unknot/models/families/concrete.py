"""One of K classes, relaxed or as it is."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, OneHotCategorical
from torch.nn.functional import one_hot

from unknot.core.relaxed import ArgmaxConcrete, Concrete
from unknot.core.site_prediction import SitePrediction, first_draw
from unknot.core.trace import Trace
from unknot.models.families.family import Family, LabelKind, Settings


class ConcreteFamily(Family):
    """One of K classes, relaxed. Networks see it standardized like every other input.

    A one-hot entry has mean 1/K and variance (K-1)/K² under the prior, so its standard deviation for ten classes is a
    third of a unit Gaussian's; without standardization the decoder would learn to ignore it beside the style.
    """

    name = "concrete"
    distributions: ClassVar[tuple[type[Distribution], ...]] = (Concrete,)
    has_classes = True
    label_kind = "categorical"
    label_kinds = ("categorical", "count", "binary")
    suits: ClassVar[tuple[LabelKind, ...]] = ("categorical", "count", "binary")
    measure = "error"
    generating_gradient = "score_function"

    @classmethod
    def describe(cls, labels: Tensor, classes: int | None) -> dict[str, Any]:
        """Return the number of classes where it is known; else, for a count, the largest that occurs plus one."""
        if classes is None:
            classes = int(labels.max()) + 1 if len(labels) else 0
        return {"size": classes}

    @classmethod
    def class_count(cls, size: int) -> int:
        return size

    @classmethod
    def settings(cls, size: int) -> Settings:
        return Settings(torch.arange(size), tuple(str(k) for k in range(size)))

    @classmethod
    def partly_labeled(cls, size: int, count: int) -> Tensor:
        return torch.tensor([0] + [-1] * (count - 1))

    def features(self, value: Tensor) -> Tensor:
        if self.size < 2:
            return value
        return (value - 1 / self.size) * (self.size / (self.size - 1) ** 0.5)

    def from_features(self, features: Tensor) -> Tensor:
        """Return the value ``(..., K)`` that other networks see as these features."""
        if self.size < 2:
            return features
        return features * ((self.size - 1) ** 0.5 / self.size) + 1 / self.size

    @property
    def parameters_size(self) -> int:
        return self.size

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.concrete(
            outputs, temperature, value=value, name=self.spec.name, gradient=gradient, event_dims=1
        )

    def prediction(self, dist: Any) -> SitePrediction:
        probs = first_draw(dist.probs.detach(), 1)
        confidence, best = probs.max(-1)
        return SitePrediction(one_hot(best, self.size).to(probs.dtype), confidence)

    def prior_outputs(self) -> Tensor:
        return torch.zeros(self.size)


class ArgmaxConcreteFamily(ConcreteFamily):
    """One of K classes, whose relaxed draws are scored by :class:`~unknot.core.relaxed.ArgmaxConcrete`."""

    name = "argmax_concrete"
    distributions = (ArgmaxConcrete,)
    suits = ()

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        dist = ArgmaxConcrete(outputs, temperature)
        return trace.variable(dist, value, name=self.spec.name, gradient=gradient, event_dims=1)


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
