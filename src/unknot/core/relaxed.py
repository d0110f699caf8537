"""Relaxed discrete variables: Concrete (one of K) and its binary form. Density or mass, chosen openly.

A relaxed variable draws an *unbounded* variable u by the Gumbel (logistic) trick and shows its squashed
image y = squash(u) to the program:

* Concrete:  u = log y = log_softmax((logits + Gumbel) / τ),  y on the simplex;
* binary:    u = logit y = (logits + Logistic) / τ,            y between 0 and 1.

Two ways of scoring, and a site always says which one it used (``Node.scored_by``):

* ``"density"``: the density of u (Maddison et al. 2017, App. C.3). It is finite for every draw at every
  temperature, while the density of y overflows at the simplex's border. The two differ by the Jacobian of
  squash, a function of y alone, which cancels in every ratio q/p: bounds and KL terms are the same.
* ``"mass"``: Σ_k y_k log π_k, the categorical log-mass at a vertex and its linear extension between. Labels
  are always scored so; a relaxed density at a vertex does not exist. For the plug-in vector y = π the
  difference of two masses is exactly the categorical KL divergence (S16 sec. 2.2).

:class:`ArgmaxConcrete` scores draws by the mass at their largest entry.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Size, Tensor
from torch.distributions import Distribution, constraints
from torch.nn.functional import logsigmoid, softplus

from unknot.core.handlers import fill_noise
from unknot.core.numerics import class_mass, seen_finite
from unknot.errors import TraceError


class Relaxed(Distribution):
    """What the two relaxed families share. ``logits`` and ``temperature`` are theirs."""

    has_rsample = True
    draws_scored_by = "density"
    logits: Tensor
    temperature: Tensor | float

    @property
    def probs(self) -> Tensor:
        """Probabilities of the discrete variable behind the relaxation."""
        raise NotImplementedError

    def sample_unbounded(self, sample_shape: Size, event_dims: int) -> Tensor:
        """Draw u, reparametrized; ``event_dims`` trailing axes of it belong to one item."""
        raise NotImplementedError

    def squash(self, unbounded: Tensor) -> Tensor:
        """u -> y."""
        raise NotImplementedError

    def harden(self, value: Tensor) -> Tensor:
        """The vertex nearest to y: with Gumbel draws, an exact draw of the discrete variable."""
        raise NotImplementedError

    def scored_value(self, value: Tensor) -> Tensor:
        """Return the value whose mass is taken: y itself."""
        return value

    def log_density(self, unbounded: Tensor) -> Tensor:
        """Density of u."""
        raise NotImplementedError

    def log_mass(self, value: Tensor) -> Tensor:
        """Discrete log-mass at y, extended linearly between the vertices."""
        raise NotImplementedError

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.squash(self.sample_unbounded(Size(sample_shape), len(self.event_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The mass. Densities of draws need u, which sites keep: see :meth:`log_density`."""
        return self.log_mass(value)


def _check_temperature(temperature: Tensor | float) -> None:
    if isinstance(temperature, Tensor):
        if temperature.ndim > 0:
            raise TraceError(
                f"a relaxed site has one temperature, but it was given a tensor of shape {tuple(temperature.shape)}; "
                "if it holds logits, mind the order: concrete(logits, temperature), but "
                "relaxed_bernoulli(temperature, logits=...)"
            )
    elif not temperature > 0:
        raise TraceError(f"the temperature of a relaxed site must be positive, but it is {temperature}")


class Concrete(Relaxed):
    """One of K classes, relaxed to the simplex (S17 sec. 2.2).

    >>> Concrete(torch.zeros(4, 10), 0.66).rsample().shape
    torch.Size([4, 10])
    """

    arg_constraints = {"logits": constraints.real_vector, "temperature": constraints.positive}  # noqa: RUF012 (torch declares it so)
    support = constraints.simplex

    def __init__(self, logits: Tensor, temperature: Tensor | float) -> None:
        _check_temperature(temperature)
        if logits.ndim == 0:
            raise TraceError(
                "concrete(logits, temperature) takes logits of shape (..., K), but got a single number"
            )
        self.logits = logits
        self.temperature = temperature
        super().__init__(logits.shape[:-1], logits.shape[-1:], validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Concrete:
        return Concrete(self.logits.expand(*batch_shape, *self.event_shape), self.temperature)

    @property
    def probs(self) -> Tensor:
        return self.logits.softmax(-1)

    @property
    def mean(self) -> Tensor:
        return self.probs

    def sample_unbounded(self, sample_shape: Size, event_dims: int) -> Tensor:
        shape = sample_shape + self.logits.shape
        exponential = fill_noise(shape, event_dims, self.logits, Tensor.exponential_)
        gumbel = -exponential.clamp_min(torch.finfo(self.logits.dtype).tiny).log()
        return ((self.logits + gumbel) / self.temperature).log_softmax(-1)

    def squash(self, unbounded: Tensor) -> Tensor:
        return unbounded.exp()

    def harden(self, value: Tensor) -> Tensor:
        return torch.zeros_like(value).scatter(-1, value.argmax(-1, keepdim=True), 1.0)

    def log_density(self, unbounded: Tensor) -> Tensor:
        """``log Γ(K) + (K-1) log τ + Σ_k log softmax_k(logits - τ u)``: invariant to shifts of the logits.

        Masked classes (logits and u of -inf) are no classes: K and the sum leave them out.
        """
        classes = self.event_shape[0]
        scores = (self.logits - self.temperature * unbounded).log_softmax(-1)
        density = scores.sum(-1) + (math.lgamma(classes) + (classes - 1) * self._log_temperature())
        return density if seen_finite(density) else self._log_density_of_the_rest(unbounded)

    def _log_density_of_the_rest(self, unbounded: Tensor) -> Tensor:
        """The density of the classes that are not masked; -inf where only u, or only the logits, leave a class out."""
        masked, left_out = self.logits.isneginf(), unbounded.isneginf()
        absent = masked & left_out
        aside = masked | left_out  # kept out of the arithmetic: a zero gradient times infinity is NaN
        logits, u = torch.where(aside, 0.0, self.logits), torch.where(aside, 0.0, unbounded)
        scores = (logits - self.temperature * u).masked_fill(aside, -math.inf).log_softmax(-1)
        classes = (~absent).sum(-1).to(scores.dtype)
        constant = torch.lgamma(classes) + (classes - 1) * self._log_temperature()
        density = scores.masked_fill(aside, 0.0).sum(-1) + constant
        return density.masked_fill((masked ^ left_out).any(-1), -math.inf)

    def _log_temperature(self) -> Tensor | float:
        temperature = self.temperature
        return temperature.log() if isinstance(temperature, Tensor) else math.log(temperature)

    def log_mass(self, value: Tensor) -> Tensor:
        return class_mass(value, self.logits)


class ArgmaxConcrete(Concrete):
    """A Concrete draw that is scored by the categorical mass at its largest entry, log π_argmax(y).

    This is what the authors' code of E19 does (``use_pmf``). Its values are those of the discrete class, but the score
    has no gradient through the draw, and that for the logits is zero on average, E[∇ log π_c] = 0: a bound with such a
    site trains the class by the reconstruction alone, and no weight on the class's terms changes that. It is not the
    gradient of E19 Eq. 4; use it to compare with their results.

    >>> y = torch.tensor([0.6, 0.4])
    >>> ArgmaxConcrete(torch.zeros(2), 0.66).log_mass(y)
    tensor(-0.6931)
    """

    draws_scored_by = "mass"

    def expand(self, batch_shape: Any, _instance: Any = None) -> ArgmaxConcrete:
        return ArgmaxConcrete(self.logits.expand(*batch_shape, *self.event_shape), self.temperature)

    def scored_value(self, value: Tensor) -> Tensor:
        return self.harden(value)

    def log_mass(self, value: Tensor) -> Tensor:
        return class_mass(self.harden(value), self.logits)


class BinaryConcrete(Relaxed):
    """A Bernoulli variable relaxed to the unit interval, elementwise."""

    arg_constraints = {"logits": constraints.real, "temperature": constraints.positive}  # noqa: RUF012 (torch declares it so)
    support = constraints.unit_interval

    def __init__(self, logits: Tensor, temperature: Tensor | float) -> None:
        _check_temperature(temperature)
        self.logits = logits
        self.temperature = temperature
        super().__init__(logits.shape, Size(), validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> BinaryConcrete:
        return BinaryConcrete(self.logits.expand(batch_shape), self.temperature)

    @property
    def probs(self) -> Tensor:
        return self.logits.sigmoid()

    @property
    def mean(self) -> Tensor:
        return self.probs

    def sample_unbounded(self, sample_shape: Size, event_dims: int) -> Tensor:
        uniform = fill_noise(sample_shape + self.logits.shape, event_dims, self.logits, Tensor.uniform_)
        tiny = torch.finfo(uniform.dtype).tiny
        logistic = uniform.clamp_min(tiny).log() - (1 - uniform).clamp_min(tiny).log()
        return (self.logits + logistic) / self.temperature

    def squash(self, unbounded: Tensor) -> Tensor:
        return unbounded.sigmoid()

    def harden(self, value: Tensor) -> Tensor:
        return (value > 0.5).to(value.dtype)

    def log_density(self, unbounded: Tensor) -> Tensor:
        """``log τ + d - 2 softplus(d)`` with d = logits - τ u (a logistic density, scaled)."""
        temperature = self.temperature
        log_temperature = temperature.log() if isinstance(temperature, Tensor) else math.log(temperature)
        difference = self.logits - temperature * unbounded
        return difference - 2 * softplus(difference) + log_temperature

    def log_mass(self, value: Tensor) -> Tensor:
        return value * logsigmoid(self.logits) + (1 - value) * logsigmoid(-self.logits)
