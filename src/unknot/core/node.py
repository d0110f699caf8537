"""Nodes: what a trace remembers of a random variable, a loss or a log-term."""

from __future__ import annotations

import math
from typing import Any, Self

import torch
from torch import Size, Tensor, where
from torch.distributions import Bernoulli, Categorical, Distribution, Normal, OneHotCategorical
from torch.nn.functional import binary_cross_entropy_with_logits

from unknot.core import validation
from unknot.core.axes import Axes, Axis, sum_event
from unknot.core.distributions import held, held_distribution
from unknot.core.gradients import RunningMean
from unknot.core.numerics import class_mass, seen_finite, where_known
from unknot.core.potentials import Evidence
from unknot.core.relaxed import Relaxed

Known = Tensor | bool  # True: all items observed; False: none; a mask (B,): some

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Node:
    """One site of a trace: its name, its value and one log-probability per item. Traces make nodes.

    Attributes
    ----------
    name : str
        As in the trace.
    value : Tensor
        What the program saw, ``(..., B, event...)``.
    known : bool or Tensor
        Which items were observed: all (True), none (False), or a mask ``(B,)``.
    leading_dims : int
        How many axes of the value come before one item's.
    active : Tensor or None
        The mask of the ``where`` blocks around the site.
    scale : float, Tensor or None
        A factor on the log-probability (:class:`unknot.scale`).
    axes : mapping from slot to Axis
        The enumerated sites that the axes of the log-probability belong to.
    group : str or None
        In a ``markov`` loop: the name without the step, under which objectives add up the site's terms.
    upstream : frozenset of str or None
        The sites whose values it was computed from, where the program is known.
    log_prob : Tensor
        Over leading axes only, ``(B,)``, ``(S, B)`` or ``(K, S, B)``. It is computed when first asked for. Items
        outside a ``where`` block count exactly zero.
    """

    __slots__ = (
        "_drawn",
        "_log_prob",
        "active",
        "axes",
        "group",
        "known",
        "leading_dims",
        "name",
        "scale",
        "upstream",
        "validated",
        "value",
    )

    def __init__(self, name: str, value: Tensor, known: Known, leading_dims: int) -> None:
        self.name = name
        self.value = value
        self.known = known
        self.leading_dims = leading_dims
        self.active: Tensor | None = None
        self.scale: Tensor | float | None = None
        self.axes: Axes = {}
        self.group: str | None = None
        self.upstream: frozenset[str] | None = None
        self._drawn: Self | None = None
        self._log_prob: Tensor | None = None
        self.validated = False  # its log-probability was found finite

    @property
    def log_prob(self) -> Tensor:
        log_prob = self.compute_log_prob()
        if not self.validated and validation.is_on():
            validation.check_finite([self])
        return log_prob

    def compute_log_prob(self) -> Tensor:
        """Compute the log-probability, once, without checking that it is finite."""
        if self._log_prob is None:
            if self.active is None:
                log_prob = self._score()
            else:
                log_prob = where(self.active, self._held(self.active)._score(), 0.0)
            self._log_prob = log_prob if self.scale is None else log_prob * self.scale
        return self._log_prob

    def check(self) -> None:
        """Refuse a site whose numbers are wrong, naming what is wrong with it."""
        validation.check_log_prob(self.name, self.distribution(), self.compute_log_prob())

    @property
    def leading_shape(self) -> Size:
        """Sizes of the leading axes of the value."""
        return self.value.shape[: self.leading_dims]

    def distribution(self) -> object:
        """What error messages should describe."""
        return self

    def _score(self) -> Tensor:
        raise TypeError(f"{type(self).__name__} is abstract")

    def _held(self, active: Tensor) -> Node:
        """The same site, passing no gradient at inactive items."""
        return self

    @property
    def drawn(self) -> Self:
        """The site as it was drawn, before a mask that came later (:meth:`unknot.Trace.keep_where`)."""
        return self if self._drawn is None else self._drawn

    def replace(self, **changes: Any) -> Self:
        """A copy with ``changes``, other values of some attributes; its log-probability is computed anew."""
        twin = object.__new__(type(self))
        for kind in type(self).__mro__:
            for slot in getattr(kind, "__slots__", ()):
                setattr(twin, slot, getattr(self, slot))
        for name, value in changes.items():
            setattr(twin, name, value)
        twin.reset()
        return twin

    def reset(self) -> None:
        """Forget what was computed from the attributes."""
        self._log_prob = None
        self.validated = False

    def renamed(self, name: str, active: Tensor | None = None) -> Self:
        """The same site under another ``name`` and, if given, behind one more ``where`` mask, ``active``."""
        if active is not None:
            return self.replace(name=name, active=active if self.active is None else self.active & active)
        log_prob, validated = self._log_prob, self.validated
        twin = self.replace(name=name)
        twin._log_prob, twin.validated = log_prob, validated
        return twin

    def kept_where(self, active: Tensor) -> Self:
        """The same site, which now counts only where ``active``; it was drawn without that mask."""
        twin = self.renamed(self.name, active)
        twin._drawn = self.drawn
        return twin


class Variable(Node):
    """A random variable.

    Attributes
    ----------
    dist : Distribution
        Its distribution.
    event_dims : int
        How many axes one item's value has.
    gradient : str or None
        How the draw carries gradient; None if no item was drawn.
    scored_by : {"mass", "density"}
        How draws of a relaxed site are scored.
    unbounded : Tensor or None
        Relaxed sites: the unbounded variable of the draws.
    mask : Tensor or None
        The elements of the value that count (:class:`unknot.mask`), broadcastable to the value.
    axis : Axis or None
        Enumerated sites: the axis of the values.
    label : Tensor or None
        Enumerated sites: the labels ``(B, event...)`` where they are known.
    source : Variable or None
        The node of another trace whose value is reused.
    shared_by : int or None
        One value for this many items (:meth:`unknot.Trace.shared`).
    evidence : Evidence or None
        What is known about the items whose value is not (:mod:`unknot.core.potentials`). Then ``dist`` is conditioned
        on it, and ``plain`` is the distribution that the program gave.
    undetached : Distribution or None
        Detached sites: the distribution that the program gave, with all its gradient.
    """

    __slots__ = (
        "_impossible",
        "_mass",
        "_plain",
        "_weight",
        "axis",
        "baseline",
        "dist",
        "event_dims",
        "evidence",
        "gradient",
        "intervened",
        "label",
        "mask",
        "scored_by",
        "shared_by",
        "source",
        "unbounded",
        "undetached",
    )

    def __init__(
        self, name: str, dist: Distribution, value: Tensor, known: Known, leading_dims: int, event_dims: int
    ) -> None:
        super().__init__(name, value, known, leading_dims)
        self.dist = dist
        self.event_dims = event_dims
        self.gradient: str | None = None
        self.baseline: RunningMean | None = None
        self.scored_by = "mass"
        self.unbounded: Tensor | None = None
        self.mask: Tensor | None = None
        self.axis: Axis | None = None
        self.label: Tensor | None = None
        self.undetached: Distribution | None = None
        self.source: Variable | None = None
        self.shared_by: int | None = None
        self.evidence: Evidence | None = None
        self._plain: Distribution | None = None
        self.intervened = False  # fixed by :class:`unknot.do`: it is not scored
        self._mass: Tensor | None = None  # enumerated: log-probability of each value, -inf where masked
        self._impossible: Tensor | None = None
        self._weight: Tensor | None = None

    def reset(self) -> None:
        super().reset()
        self._mass = self._impossible = self._weight = None

    @property
    def enumerated(self) -> bool:
        return self.gradient == "enumerate"

    @property
    def reused(self) -> bool:
        """Whether the value comes from a node of another trace."""
        return self.source is not None

    def distribution(self) -> object:
        return self.dist

    def check(self) -> None:
        if self.source is not None:
            self.source.check()
        validation.check_parameters(self.name, self.dist)
        if self.source is None and self.known is not False:
            value = self.value if self.label is None else self.label
            validation.check_value(self.name, self.dist, value, self.known, self.event_dims)
        super().check()

    def _score(self) -> Tensor:
        if self.intervened:
            return self.value.new_zeros(self.leading_shape)
        log_prob = self._log_density()
        if self.source is not None and self.evidence is not None:
            log_prob = log_prob + self.log_evidence()
        if self.shared_by is not None:
            log_prob = log_prob / self.shared_by
        return self._without_impossible(log_prob) if self.enumerated else log_prob

    @property
    def plain(self) -> Distribution:
        """The distribution without the evidence."""
        return self.dist if self._plain is None or self.evidence is None else self._plain

    def condition(self, plain: Distribution, evidence: Evidence, conditioned: Distribution) -> None:
        """Note that the distribution is conditioned on evidence."""
        self.dist, self._plain, self.evidence = conditioned, plain, evidence

    def log_label(self) -> Tensor:
        """Log-probability of what was observed, given the draws before: of labels, and of evidence.

        Zero for items about which nothing is known. It has the leading axes of ``log_prob``.
        """
        labels = where_known(self.known, self.log_prob)
        if self.evidence is None or self.intervened:
            return labels
        node = self if self.active is None else self._held(self.active)
        log_evidence = node.log_evidence()
        if self.shared_by is not None:
            log_evidence = log_evidence / self.shared_by
        if self.active is not None:
            log_evidence = where(self.active, log_evidence, 0.0)
        return labels + (log_evidence if self.scale is None else log_evidence * self.scale)

    def log_evidence(self) -> Tensor:
        """In q the log-probability of the evidence; in p what is added to the log-probability of the draw.

        It knows nothing of ``where`` blocks and scales: see :meth:`log_label`.
        """
        assert self.evidence is not None
        if self.source is None:
            elements = self.evidence.log_mass(self.plain if self.undetached is None else self.undetached)
        else:
            elements = self.evidence.log_score(self.plain, self.value)
        return sum_event(elements, self.event_dims - len(self.plain.event_shape))

    def _log_density(self) -> Tensor:
        if isinstance(self.dist, Relaxed) and self.scored_by == "density":
            return self._score_relaxed(self.dist)
        if self.mask is not None:
            return self._summed(self.dist.log_prob(self.value), len(self.dist.event_shape))
        if self.enumerated and self.axis is not None and type(self.dist) is Categorical:
            every_class = _of_every_class(self.dist, self.value, self.axis)
            if every_class is not None:
                return every_class
        return item_log_prob(self.dist, self.value, self.event_dims)

    def _summed(self, elements: Tensor, own: int) -> Tensor:
        """Log-probabilities of elements, ``own`` event axes summed already, as one value per item."""
        if self.mask is not None:
            elements = where(self.mask, elements, 0.0)
        return sum_event(elements, self.event_dims - own)

    def _score_relaxed(self, dist: Relaxed) -> Tensor:
        """Draws by the density of u, labels by their mass: a label has no density."""
        assert self.unbounded is not None
        own = len(dist.event_shape)
        if self.known is True:
            return self._summed(dist.log_mass(self.value), own)
        log_prob = self._summed(dist.log_density(self.unbounded), own)
        if self.known is False:
            return log_prob
        return where(self.known, self._summed(dist.log_mass(self.value), own), log_prob)

    def _held(self, active: Tensor) -> Variable:
        twin = self.replace(
            dist=held_distribution(self.dist, active, self.event_dims),
            value=held(self.value, active, self.leading_dims),
        )
        if self._plain is not None:
            twin._plain = held_distribution(self._plain, active, self.event_dims)
        if self.undetached is not None:
            twin.undetached = held_distribution(self.undetached, active, self.event_dims)
        if self.unbounded is not None:
            twin.unbounded = held(self.unbounded, active, self.leading_dims)
        return twin

    # ---- enumerated sites ---------------------------------------------------------------------------

    def _without_impossible(self, mass: Tensor) -> Tensor:
        """Masked classes, logits of -inf in q, have weight zero: they count nothing, in q and in p."""
        self._mass, self._weight, self._impossible = mass, None, None
        if seen_finite(mass):
            return mass
        if self.source is None:
            self._impossible = mass.isneginf() & (self.weight == 0)  # a label there has weight one
        impossible = self.impossible
        return mass if impossible is None else where(impossible, 0.0, mass)

    @property
    def impossible(self) -> Tensor | None:
        """Enumerated sites: which values q rules out, ``(K, S, B)``; None where none is seen."""
        if self.source is not None:
            return self.source.impossible
        self.mass()
        return self._impossible

    @property
    def weight(self) -> Tensor:
        """Enumerated sites: probability of each value, all on the label where it is known, ``(K, S, B)``."""
        if self._weight is None:
            weight = self.mass().exp()
            if self.label is not None:
                assert isinstance(self.known, Tensor)
                weight = where(self.known, self._agrees().to(weight.dtype), weight)
            self._weight = weight
        return self._weight

    @property
    def log_weight(self) -> Tensor:
        """The logarithm of :attr:`weight`, -inf off the label."""
        mass = self.mass()
        if self.label is None:
            return mass
        assert isinstance(self.known, Tensor)
        return where(self.known, where(self._agrees(), 0.0, -float("inf")).to(mass.dtype), mass)

    def mass(self) -> Tensor:
        """Log-probability of each enumerated value, whether or not a ``where`` block switches the item off."""
        assert self.enumerated
        if self._mass is None:
            self._score()
        assert self._mass is not None
        return self._mass

    def _agrees(self) -> Tensor:
        """Which enumerated values equal the label: ``(K, 1, B)``."""
        assert self.label is not None
        agrees = self.value.eq(self.label)
        return agrees if self.event_dims == 0 else agrees.flatten(-self.event_dims).all(-1)


class Loss(Node):
    """A likelihood given as a loss: ``log_prob = -fn(prediction, target)``; the value is the prediction."""

    __slots__ = ("event_dims", "loss", "target")

    def __init__(
        self,
        name: str,
        prediction: Tensor,
        target: Tensor | None,
        loss: Tensor,
        leading_dims: int,
        event_dims: int = 0,
    ) -> None:
        super().__init__(name, prediction, target is not None, leading_dims)
        self.event_dims = event_dims  # of the prediction
        self.target = target
        self.loss = loss

    def _score(self) -> Tensor:
        return -self.loss


class LogTerm(Node):
    """A term added to the joint log-probability as it is."""

    __slots__ = ()

    def __init__(self, name: str, log_prob: Tensor) -> None:
        super().__init__(name, log_prob, True, log_prob.ndim)

    def _score(self) -> Tensor:
        return self.value


def item_log_prob(dist: Distribution, value: Tensor, event_dims: int) -> Tensor:
    """``log p(value)`` with the trailing ``event_dims`` axes of the value, and no others, summed.

    ``dist.log_prob(value)`` followed by a sum is right for every distribution but one. For the two families that fill
    a training step, Gaussian codes and Bernoulli pixels, summing before the constants are applied saves passes over
    the largest tensors. For one-hot classes torch scores the class of the largest entry, which is wrong for the
    vectors between the vertices that ``plug_in`` makes and has no gradient for ``straight_through`` ones.
    """
    if type(dist) is Normal:
        return _normal(dist, value, event_dims)
    if type(dist) is Bernoulli and "logits" in dist.__dict__:
        return _bernoulli(dist, value, event_dims)
    if type(dist) is Categorical and value.ndim == 1 and event_dims == 0 and dist.batch_shape[-1:] == (1,):
        return dist.logits.squeeze(-2).index_select(
            -1, value
        )  # as of an enumerated site: no copy for each item
    if isinstance(dist, OneHotCategorical):
        return sum_event(class_mass(value, dist.logits), event_dims - len(dist.event_shape))
    return sum_event(dist.log_prob(value), event_dims - len(dist.event_shape))


def _of_every_class(dist: Categorical, value: Tensor, axis: Axis) -> Tensor | None:
    """``log p(value)`` of a value that runs through all classes on ``axis``: the logits, their last axis moved there.

    ``dist.log_prob`` would gather from logits expanded to ``(K, K', ..., K)`` where they depend on another enumerated
    site, and its backward pass writes zeros of that size: K³ B per step of a chain. None where the logits vary on
    that axis themselves, or the value has other classes than the distribution.
    """
    place = -3 - axis.slot  # among the leading axes, of which samples and batch are the last
    logits = dist.logits
    logits = logits.reshape((1,) * (1 - place - logits.ndim) + logits.shape)
    if logits.shape[place - 1] != 1 or logits.shape[-1] != value.shape[place]:
        return None
    return logits.transpose(place - 1, -1).squeeze(-1)


def _normal(dist: Normal, value: Tensor, event_dims: int) -> Tensor:
    """``-½ Σ_d ((z_d - μ_d) / σ_d)² - Σ_d log σ_d - (D/2) log 2π``."""
    standard = (value - dist.loc) / dist.scale
    quadratic = sum_event(standard * standard, event_dims)
    event = value.shape[value.ndim - event_dims :]
    log_scale = dist.scale.log()
    if log_scale.ndim == 0:
        log_volume = log_scale * event.numel()
    else:
        own = log_scale.shape[: max(0, log_scale.ndim - event_dims)] + event
        log_volume = sum_event(log_scale if log_scale.shape == own else log_scale.expand(own), event_dims)
    # the constant goes last: a scalar scale may be float32 where the values are float64
    return -0.5 * quadratic - log_volume - event.numel() * _HALF_LOG_TAU


def _bernoulli(dist: Bernoulli, value: Tensor, event_dims: int) -> Tensor:
    """``-Σ_d BCE(x_d, σ(l_d))``, from logits."""
    logits = dist.logits
    if logits.shape != value.shape:
        shape = torch.broadcast_shapes(logits.shape, value.shape)
        logits, value = logits.expand(shape), value.expand(shape)
    return -sum_event(binary_cross_entropy_with_logits(logits, value, reduction="none"), event_dims)
