"""Families of nodes: how network outputs become a site's parameters, in the encoder and in the decoder."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot, softplus

from unknot.core.trace import Trace
from unknot.models.agreement import Reading, first_draw
from unknot.models.direction import Direction
from unknot.models.spec import NodeSpec

_SMALLEST_SCALE = 1e-3  # keeps densities of overconfident encoders finite


class Family(nn.Module, ABC):
    """A latent node's family: ``parameters`` outputs of a network become its distribution.

    ``site`` makes the node's site from these outputs, ``prior`` from nothing.
    """

    default_gradient: str | None = None  # None: the site's own
    generating_gradient: str | None = None

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__()
        assert spec.size is not None
        self.spec = spec
        self.size = spec.size

    @property
    @abstractmethod
    def parameters_size(self) -> int:
        """How many numbers the network must give."""

    @property
    def value_size(self) -> int:
        """How many numbers other networks see of it: the size of :meth:`features`."""
        return self.size

    def features(self, value: Tensor) -> Tensor:
        """The value in the form other networks take."""
        return value

    @abstractmethod
    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        """The site with parameters given by a network."""

    def recognise(self, q: Trace, outputs: Tensor, value: Any, temperature: Tensor) -> Tensor:
        """The site in the recognition program: drawn with the gradient that the description names."""
        return self.site(q, outputs, value, temperature, self.spec.gradient or self.default_gradient)

    def generate(self, p: Trace, outputs: Tensor, value: Any, temperature: Tensor) -> Tensor:
        """The site in the generative program; if it must be drawn, as a real value and not as a relaxed one."""
        return self.site(p, outputs, value, temperature, self.generating_gradient)

    @abstractmethod
    def summary(self, outputs: Tensor) -> Tensor:
        """What a recogniser reports: probabilities of the classes, or the mean."""

    def point(self, outputs: Tensor) -> Tensor:
        """The single best value: one-hot, or the mean."""
        return self.summary(outputs)

    @abstractmethod
    def reading(self, dist: Any) -> Reading:
        """The best value of a recogniser's distribution, and how sure that is; without gradient."""

    @abstractmethod
    def prior_outputs(self) -> Tensor:
        """Outputs that stand for the standard prior: unit Gaussian, uniform classes, any direction."""


class NormalFamily(Family):
    """A vector of real numbers, in the units of its ``centre`` and ``spread``: networks see it standardised."""

    centre: Tensor
    spread: Tensor

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__(spec)
        self.standard = not (spec.centre or spec.spread)
        centre = torch.tensor(spec.centre or [0.0] * self.size, dtype=torch.float32)
        spread = torch.tensor(spec.spread or [1.0] * self.size, dtype=torch.float32)
        self.register_buffer("centre", centre, persistent=False)  # the description keeps them
        self.register_buffer("spread", spread, persistent=False)

    @property
    def parameters_size(self) -> int:
        return 2 * self.size

    def features(self, value: Tensor) -> Tensor:
        return value if self.standard else (value - self.centre) / self.spread

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        loc, raw = outputs.chunk(2, -1)
        scale = softplus(raw) + _SMALLEST_SCALE
        if not self.standard:
            loc, scale = self.centre + self.spread * loc, self.spread * scale
        return trace.normal(loc, scale, value=value, name=self.spec.name, gradient=gradient, event_dims=1)

    def summary(self, outputs: Tensor) -> Tensor:
        loc = outputs.chunk(2, -1)[0]
        return loc if self.standard else self.centre + self.spread * loc

    def reading(self, dist: Any) -> Reading:
        loc = first_draw(dist.mean.detach(), 1)
        return Reading(loc, torch.ones_like(loc[..., 0]))  # a Gaussian is as sure as its units are wide

    def prior_outputs(self) -> Tensor:
        unit = math.log(math.expm1(1.0 - _SMALLEST_SCALE))  # softplus(unit) + smallest = 1
        return torch.cat([torch.zeros(self.size), torch.full((self.size,), unit)])


class ConcreteFamily(Family):
    """One of K classes, relaxed. Networks see it standardised like every other input.

    A one-hot entry has mean 1/K and variance (K-1)/K² under the prior, for ten classes a third of a unit Gaussian's
    spread; fed in raw it would be drowned by the style, and the generator would learn to ignore it.
    """

    generating_gradient = "score_function"

    def features(self, value: Tensor) -> Tensor:
        if self.size < 2:
            return value
        return (value - 1 / self.size) * (self.size / (self.size - 1) ** 0.5)

    @property
    def parameters_size(self) -> int:
        return self.size

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.concrete(outputs, temperature, value=value, name=self.spec.name, gradient=gradient)

    def summary(self, outputs: Tensor) -> Tensor:
        return outputs.softmax(-1)

    def point(self, outputs: Tensor) -> Tensor:
        return one_hot(outputs.argmax(-1), self.size).to(outputs.dtype)

    def reading(self, dist: Any) -> Reading:
        probs = first_draw(dist.probs.detach(), 1)
        confidence, best = probs.max(-1)
        return Reading(one_hot(best, self.size).to(probs.dtype), confidence)

    def prior_outputs(self) -> Tensor:
        return torch.zeros(self.size)


class CategoricalFamily(ConcreteFamily):
    """One of K classes as a one-hot vector, enumerated unless another gradient is named."""

    default_gradient = "enumerate"

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.one_hot_categorical(logits=outputs, value=value, name=self.spec.name, gradient=gradient)


class BernoulliFamily(Family):
    """Several yes-or-no answers."""

    default_gradient: str | None = "straight_through"
    generating_gradient = "score_function"

    @property
    def parameters_size(self) -> int:
        return self.size

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.bernoulli(
            logits=outputs, value=value, name=self.spec.name, gradient=gradient, event_dims=1
        )

    def summary(self, outputs: Tensor) -> Tensor:
        return outputs.sigmoid()

    def point(self, outputs: Tensor) -> Tensor:
        return (outputs > 0).to(outputs.dtype)

    def reading(self, dist: Any) -> Reading:
        probs = first_draw(dist.probs.detach(), 1)
        sure = torch.maximum(probs, 1 - probs).amin(-1)  # of the least sure answer
        return Reading((probs > 0.5).to(probs.dtype), sure)

    def prior_outputs(self) -> Tensor:
        return torch.zeros(self.size)


class RelaxedBernoulliFamily(BernoulliFamily):
    """Several yes-or-no answers, relaxed."""

    default_gradient = None

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        return trace.relaxed_bernoulli(
            temperature, logits=outputs, value=value, name=self.spec.name, gradient=gradient, event_dims=1
        )


class DirectionFamily(Family):
    """A unit vector in space. Networks see it by the spherical harmonics of orders one and two, standardised.

    What a matt surface shows of a light is all but linear in them (Basri & Jacobs 2003); the first three are the
    vector itself.
    """

    @property
    def parameters_size(self) -> int:
        return 4

    @property
    def value_size(self) -> int:
        return 8

    def features(self, value: Tensor) -> Tensor:
        x, y, z = value.unbind(-1)
        second = [x * y, y * z, x * z, (x**2 - y**2) / 2, (3 * z**2 - 1) / (2 * 3**0.5)]
        # over all directions x² has mean 1/3 and (xy)² has 1/15
        return torch.cat([3**0.5 * value, 15**0.5 * torch.stack(second, -1)], -1)

    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        mean = normalize(outputs[..., :3], dim=-1, eps=1e-6)
        concentration = softplus(outputs[..., 3]) + _SMALLEST_SCALE
        return trace.variable(Direction(mean, concentration), value, name=self.spec.name, gradient=gradient)

    def summary(self, outputs: Tensor) -> Tensor:
        return normalize(outputs[..., :3], dim=-1, eps=1e-6)

    def reading(self, dist: Any) -> Reading:
        concentration = first_draw(dist.concentration.detach(), 0)
        sure = 1 / concentration.tanh() - 1 / concentration  # the mean cosine of a draw's angle to the mean
        return Reading(first_draw(dist.mean_direction.detach(), 1), sure)

    def prior_outputs(self) -> Tensor:
        return torch.tensor([0.0, 0.0, 1.0, -20.0])  # concentration next to zero: every direction alike


_FAMILIES: dict[str, type[Family]] = {
    "normal": NormalFamily,
    "concrete": ConcreteFamily,
    "categorical": CategoricalFamily,
    "bernoulli": BernoulliFamily,
    "relaxed_bernoulli": RelaxedBernoulliFamily,
    "direction": DirectionFamily,
}


def family(spec: NodeSpec) -> Family:
    """The family object of a latent node."""
    return _FAMILIES[spec.family](spec)
