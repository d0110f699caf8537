"""Evidence about a site's value: a non-negative potential ψ(y) for each item, and distributions conditioned on it.

With evidence e a site draws from q(y | ·) ψ(y) / q(e | ·), where q(e | ·) = Σ_y q(y | ·) ψ(y) takes the place of the
probability of a label in the weights of S17 Eqs. 5-9. Every kind of evidence offers

* ``condition(dist)``: the distribution to draw from, ``dist`` itself for items without evidence;
* ``log_mass(dist)``: log q(e | ·) for each element;
* ``log_score(dist, value)``: what p adds to its own log-probability of the draw, see :class:`Potential`.

A **relaxed** site (Concrete) has no density at a class. With evidence it is scored, in q and in p, by the probability
of the evidence, Σ_y q(y) ψ(y) over the classes, times the Concrete density with logits + log ψ. With ψ = 1 that is the
density, with a single class the class's probability: what an item without and with a label is scored by.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.distributions import (
    Bernoulli,
    Categorical,
    Distribution,
    Normal,
    OneHotCategorical,
    TransformedDistribution,
)
from torch.nn.functional import logsigmoid

from unknot.core.numerics import between_ends, log_normal_interval
from unknot.core.relaxed import BinaryConcrete, Concrete
from unknot.errors import TraceError


@dataclass(frozen=True)
class Evidence(ABC):
    """What is known about a site's value for each item of a batch.

    Attributes
    ----------
    informed : Tensor
        The items with evidence that is neither a point nor nothing, ``(B,)``.
    """

    about_classes: ClassVar[bool] = False
    informed: Tensor

    def rows(self, index: Tensor) -> Self:
        """The same evidence for some items, or for items in another order."""
        return self._each(lambda tensor: tensor[index])

    def to(self, device: torch.device | str) -> Self:
        """The same evidence on another device."""
        return self._each(lambda tensor: tensor.to(device))

    def _each(self, change: Any) -> Self:
        held = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return replace(self, **{k: change(v) for k, v in held.items() if isinstance(v, Tensor)})

    @abstractmethod
    def check(self, site: str) -> None:
        """Refuse evidence that no value can have, naming site and item."""

    @abstractmethod
    def refuse_unfit(self, site: str, dist: Distribution) -> None:
        """Refuse a family that the evidence is not for."""

    @abstractmethod
    def condition(self, dist: Distribution) -> Distribution:
        """``q(y) ψ(y) / q(e)`` for informed items, ``dist`` as it is for the others."""

    @abstractmethod
    def log_mass(self, dist: Distribution) -> Tensor:
        """``log q(e)`` of every element of the distribution's batch shape; zero for items without evidence."""

    def condition_score(self, dist: Distribution) -> Distribution:
        """The distribution by which p scores the draw."""
        return dist

    @abstractmethod
    def log_score(self, dist: Distribution, value: Tensor) -> Tensor:
        """What p adds to its log-probability of a draw, given :meth:`condition_score`: together log p(y) + log ψ(y)."""


# ---- classes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Potential(Evidence):
    """A log-potential over the values of a discrete site with one variable per item.

    Attributes
    ----------
    log_potential : Tensor
        log ψ, ``(B, K)``; -inf rules a value out. It may carry gradient, to learned confusion matrices.
    offset : Tensor
        log ψ of the value of an item that has a single possible one, ``(B,)``; else zero.
    what : str
        The argument of :func:`~unknot.core.evidence.partial` that it came from, for messages.
    """

    about_classes = True
    log_potential: Tensor
    offset: Tensor
    what: str = "allowed"

    def check(self, site: str) -> None:
        bad = self.log_potential.isnan() | self.log_potential.isposinf()
        if bool(bad.any()):
            item = int(bad.any(1).nonzero()[0])
            raise TraceError(
                f"site '{site}': {self.what} of item {item} has a number that is negative, infinite or NaN; expected "
                "numbers of at least zero"
            )
        nothing = self.log_potential.isneginf().all(1)
        if bool(nothing.any()):
            item = int(nothing.nonzero()[0])
            raise TraceError(
                f"site '{site}': {self.what} of item {item} rules out all {self.log_potential.shape[1]} classes; "
                "an item about which nothing is known has all of them"
            )

    def refuse_unfit(self, site: str, dist: Distribution) -> None:
        if isinstance(dist, Concrete | OneHotCategorical | Categorical):
            classes = dist.logits.shape[-1]
        elif isinstance(dist, Bernoulli | BinaryConcrete):
            classes = 2
        else:
            raise TraceError(
                f"site '{site}': {self.what}= is evidence about classes, but the site is a {type(dist).__name__}; for "
                "numbers use low= and high=, or scale="
            )
        if classes != self.log_potential.shape[1]:
            raise TraceError(
                f"site '{site}' has {classes} classes, but {self.what}= is about {self.log_potential.shape[1]}; "
                f"expected shape ({len(self.informed)}, {classes})"
            )

    def condition(self, dist: Distribution) -> Distribution:
        if isinstance(dist, Bernoulli | BinaryConcrete):
            no, yes = self._safe(dist.logits).unbind(-1)
            return _binary(dist, torch.where(self.informed, dist.logits + (yes - no), dist.logits), self)
        logits = _logits(dist)
        joint = logits.log_softmax(-1) + self._safe(logits)
        conditioned = torch.where(self.informed.unsqueeze(-1), joint.log_softmax(-1), logits)
        return _one_of_k(dist, conditioned, self.informed)

    condition_score = condition

    def log_mass(self, dist: Distribution) -> Tensor:
        if isinstance(dist, Bernoulli | BinaryConcrete):
            log_probs = torch.stack([logsigmoid(-dist.logits), logsigmoid(dist.logits)], -1)
        else:
            log_probs = _logits(dist).log_softmax(-1)
        mass = (log_probs + self._safe(log_probs)).logsumexp(-1)
        return torch.where(self.informed, mass, self.offset.to(mass))

    def _safe(self, like: Tensor) -> Tensor:
        """log ψ of the informed items; zero for the others, whose infinities would make gradients NaN."""
        return torch.where(self.informed.unsqueeze(-1), self.log_potential, 0.0).to(like)

    def log_score(self, dist: Distribution, value: Tensor) -> Tensor:
        return self.log_mass(dist)


def potential(
    log_potential: Tensor, what: str, informed: Tensor | None = None
) -> tuple[Tensor, Tensor, Potential]:
    """Labels, known flags and the evidence of the other items from log ψ ``(B, K)``.

    An item with one possible value is known. One whose values all have the same potential tells nothing and counts as
    ψ = 1, but for ``informed`` items: their potential is learned, and may happen to be the same for all values.
    """
    possible = log_potential > -math.inf
    known = possible.sum(1) == 1
    top = log_potential.amax(1)
    if informed is None:
        informed = log_potential.amin(1) != top
    informed = informed & ~known
    values = torch.where(known, possible.to(torch.uint8).argmax(1), -1)
    offset = torch.where(known, top, 0.0)
    return values, known, Potential(informed, log_potential, offset, what)


def _logits(dist: Distribution) -> Tensor:
    assert isinstance(dist, Concrete | OneHotCategorical | Categorical)
    return dist.logits


def _one_of_k(dist: Distribution, logits: Tensor, informed: Tensor) -> Distribution:
    """A copy with other logits, which are not normalized again: items without evidence keep theirs to the last bit."""
    if isinstance(dist, Concrete):
        return Concrete(logits, dist.temperature)
    if isinstance(dist, OneHotCategorical):
        twin = OneHotCategorical.__new__(OneHotCategorical)
        twin._categorical = _categorical(dist._categorical, logits, informed)
        Distribution.__init__(twin, logits.shape[:-1], logits.shape[-1:], validate_args=False)
        return twin
    assert isinstance(dist, Categorical)
    return _categorical(dist, logits, informed)


def _categorical(dist: Categorical, logits: Tensor, informed: Tensor) -> Categorical:
    twin = Categorical.__new__(Categorical)
    twin.logits = twin._param = logits
    twin._num_events = logits.shape[-1]
    if "probs" in dist.__dict__:
        twin.probs = torch.where(informed.unsqueeze(-1), logits.softmax(-1), dist.probs)
    Distribution.__init__(twin, logits.shape[:-1], validate_args=False)
    return twin


def _binary(dist: Bernoulli | BinaryConcrete, logits: Tensor, evidence: Potential) -> Distribution:
    if isinstance(dist, BinaryConcrete):
        return BinaryConcrete(logits, dist.temperature)
    twin = Bernoulli.__new__(Bernoulli)
    twin.logits = twin._param = logits
    if "probs" in dist.__dict__:
        twin.probs = torch.where(evidence.informed, logits.sigmoid(), dist.probs)
    Distribution.__init__(twin, logits.shape, validate_args=False)
    return twin


# ---- numbers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval(Evidence):
    """ψ(y) = 1 between ``low`` and ``high``, ``(B, event...)``, element by element; an end may be infinite."""

    low: Tensor
    high: Tensor

    def check(self, site: str) -> None:
        bad = ~(self.low <= self.high)  # NaN too
        if bool(bad.any()):
            place = tuple(bad.nonzero()[0].tolist())
            raise TraceError(
                f"site '{site}': the interval of item {place[0]} has low={self.low[place].item():.6g} and "
                f"high={self.high[place].item():.6g}; expected low <= high, where an open end is -inf or inf"
            )
        degenerate = _by_item(self.low == self.high).any(1) & self.informed
        if bool(degenerate.any()):
            raise TraceError(
                f"site '{site}': the interval of item {int(degenerate.nonzero()[0])} has low = high in some entries "
                "only; give all entries of an item an exact value, or each of them an interval of positive length"
            )

    def refuse_unfit(self, site: str, dist: Distribution) -> None:
        if dist.event_shape or not _has_quantiles(dist):
            raise TraceError(
                f"site '{site}': low= and high= need a family of independent numbers with a distribution function and "
                f"its inverse (normal, log_normal, laplace, uniform), but the site is a {type(dist).__name__}"
            )

    def condition(self, dist: Distribution) -> Distribution:
        return Truncated(dist, *self._bounds(dist))

    def log_mass(self, dist: Distribution) -> Tensor:
        low, high, inside = self._bounds(dist)
        mass = _log_interval(dist, low, high)
        return torch.where(inside, mass, 0.0)

    def log_score(self, dist: Distribution, value: Tensor) -> Tensor:
        return torch.zeros_like(value)  # draws are inside

    def _bounds(self, dist: Distribution) -> tuple[Tensor, Tensor, Tensor]:
        """Ends, and which elements have one; the others get an interval that keeps all arithmetic finite."""
        like = dist.loc if isinstance(dist, Normal) else dist.mean
        low, high = self.low.to(like), self.high.to(like)
        support: Any = dist.support
        bottom = getattr(support, "lower_bound", -math.inf)
        if not isinstance(bottom, Tensor):
            low = torch.where(low <= bottom, -math.inf, low)
        informed = self.informed.reshape(-1, *(1,) * (low.ndim - 1))
        inside = informed & (low.isfinite() | high.isfinite())
        return torch.where(inside, low, -math.inf), torch.where(inside, high, math.inf), inside


@dataclass(frozen=True)
class Measurement(Evidence):
    """ψ(y) = N(values; y, scale), ``(B, event...)`` both, element by element: a measurement with a known error."""

    values: Tensor
    scale: Tensor

    def check(self, site: str) -> None:
        bad = ~_by_item((self.scale > 0) & self.scale.isfinite()).all(1) & self.informed
        if bool(bad.any()):
            raise TraceError(
                f"site '{site}': scale of item {int(bad.nonzero()[0])} is not a positive finite number in every entry; "
                "it is the standard deviation of the measurement's error"
            )

    def refuse_unfit(self, site: str, dist: Distribution) -> None:
        if type(dist) is not Normal:
            raise TraceError(
                f"site '{site}': scale= is for normal sites, but the site is a {type(dist).__name__}; give the "
                "measurement as an interval, low= and high=, or as a child of the site in the decoder"
            )

    def condition(self, dist: Distribution) -> Distribution:
        assert type(dist) is Normal
        values, scale, informed = self._safe(dist)
        total = (dist.scale.square() + scale.square()).sqrt()
        gain = (dist.scale / total).square()
        loc = torch.where(informed, dist.loc + gain * (values - dist.loc), dist.loc)
        return Normal(
            loc, torch.where(informed, dist.scale * (scale / total), dist.scale), validate_args=False
        )

    def log_mass(self, dist: Distribution) -> Tensor:
        assert type(dist) is Normal
        values, scale, informed = self._safe(dist)
        total = (dist.scale.square() + scale.square()).sqrt()
        return torch.where(informed, Normal(dist.loc, total, validate_args=False).log_prob(values), 0.0)

    def log_score(self, dist: Distribution, value: Tensor) -> Tensor:
        values = torch.where(self._mask(self.values), self.values, 0.0).to(value)
        scale = torch.where(self._mask(self.scale), self.scale, 1.0).to(value)
        score = Normal(value, scale, validate_args=False).log_prob(values)
        return torch.where(self._mask(values), score, 0.0)

    def _mask(self, like: Tensor) -> Tensor:
        return self.informed.reshape(-1, *(1,) * (like.ndim - 1))

    def _safe(self, dist: Normal) -> tuple[Tensor, Tensor, Tensor]:
        """Values and scales with something harmless for the items without evidence."""
        informed = self._mask(self.values)
        values = torch.where(informed, self.values.to(dist.loc), dist.loc.detach())
        return values, torch.where(informed, self.scale, 1.0).to(dist.loc), informed


def _by_item(flags: Tensor) -> Tensor:
    """``(B, event...)`` as ``(B, elements)``."""
    return flags.unsqueeze(1) if flags.ndim == 1 else flags.flatten(1)


class Truncated(Distribution):
    """``base`` between ``low`` and ``high``, renormalized, where ``inside``; elsewhere ``base`` itself.

    Draws are those of the base, moved by :meth:`transport`: for an element without ends they are the same.
    """

    arg_constraints = {}  # noqa: RUF012 (torch declares it so)

    def __init__(self, base: Distribution, low: Tensor, high: Tensor, inside: Tensor) -> None:
        self.base, self.low, self.high, self.inside = base, low, high, inside
        super().__init__(torch.broadcast_shapes(base.batch_shape, low.shape), validate_args=False)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base.has_rsample

    @property
    def support(self) -> Any:
        return self.base.support

    @property
    def mode(self) -> Tensor:
        """The base's mean, or the nearer end of the interval: the most likely value of a symmetric family."""
        return torch.minimum(torch.maximum(self.base.mean, self.low), self.high)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Truncated:
        twin = copy.copy(self)
        twin.base = self.base.expand(batch_shape)
        Distribution.__init__(twin, torch.Size(batch_shape), validate_args=False)
        return twin

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.transport(self.base.expand(self.batch_shape).rsample(sample_shape))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            return self.transport(self.base.expand(self.batch_shape).sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        mass = torch.where(self.inside, _log_interval(self.base, self.low, self.high), 0.0)
        return self.base.log_prob(value) - mass

    def transport(self, drawn: Tensor) -> Tensor:
        """Draws of the base as draws of this distribution: their quantiles between those of the two ends."""
        if isinstance(self.base, Normal):
            loc, scale = self.base.loc, self.base.scale
            noise = ((drawn - loc) / scale).detach()
            moved = loc + scale * between_ends(self.low, self.high, loc, scale, noise)
        else:
            rank = self.base.cdf(drawn).detach()
            below, above = _cdf(self.base, self.low, 0.0), _cdf(self.base, self.high, 1.0)
            tiny = torch.finfo(drawn.dtype).eps
            moved = self.base.icdf((below + (above - below) * rank).clamp(tiny, 1 - tiny))
        clamped = torch.minimum(torch.maximum(moved, self.low), self.high)
        return torch.where(self.inside, moved + (clamped - moved).detach(), drawn)


def _has_quantiles(dist: Distribution) -> bool:
    if isinstance(dist, TransformedDistribution):
        return _has_quantiles(dist.base_dist)
    return type(dist).cdf is not Distribution.cdf and type(dist).icdf is not Distribution.icdf


def _cdf(dist: Distribution, end: Tensor, beyond: float) -> Tensor:
    """The distribution function at an end; ``beyond`` where it is infinite, without gradient."""
    somewhere = dist.icdf(torch.full_like(end, 0.5)).detach()
    return torch.where(end.isinf(), beyond, dist.cdf(torch.where(end.isinf(), somewhere, end)))


def _log_interval(dist: Distribution, low: Tensor, high: Tensor) -> Tensor:
    """``log P(low < y < high)`` of every element."""
    if isinstance(dist, Normal):
        return log_normal_interval(low, high, dist.loc, dist.scale)
    mass = _cdf(dist, high, 1.0) - _cdf(dist, low, 0.0)
    return mass.clamp_min(torch.finfo(mass.dtype).tiny).log()
