"""Nodes: what a trace remembers of a random variable, a loss or a log-term."""

from __future__ import annotations

from torch import Size, Tensor, where
from torch.distributions import Distribution

from unknot.core import validation
from unknot.core.axes import sum_event
from unknot.core.finite import seen_finite
from unknot.core.gradients.score_function import RunningMean
from unknot.core.inactive import held, held_distribution
from unknot.core.item_log_prob import item_log_prob
from unknot.core.relaxed import Relaxed

Known = Tensor | bool  # True: all items observed; False: none; a mask (B,): some


class Node:
    """One site: its name, its value, and one log-probability per item. Traces make nodes; programs read them.

    * ``name``: as in the trace;
    * ``value``: the tensor the program saw, ``(..., B, event...)``;
    * ``known``: which items were observed: all (True), none (False), or a mask ``(B,)``;
    * ``leading_dims``: how many axes of the value come before one item's;
    * ``active``: the mask of the ``where`` blocks around the site, None if there is none;
    * ``log_prob``: has the leading axes only, ``(B,)``, ``(S, B)``, or ``(K, S, B)`` under enumeration. It is
      computed when first asked for. Items outside a ``where`` block count exactly zero.

    A random variable also has its distribution, ``dist``.
    """

    __slots__ = ("_drawn", "_log_prob", "active", "known", "leading_dims", "looked_at", "name", "value")

    def __init__(self, name: str, value: Tensor, known: Known, leading_dims: int) -> None:
        self.name = name
        self.value = value
        self.known = known
        self.leading_dims = leading_dims
        self.active: Tensor | None = None
        self._drawn: Node | None = None
        self._log_prob: Tensor | None = None
        self.looked_at = False  # its log-probability was found finite

    @property
    def log_prob(self) -> Tensor:
        log_prob = self.scored()
        if not self.looked_at and validation.is_on():
            validation.look([self])
        return log_prob

    def scored(self) -> Tensor:
        """The log-probability, computed once, before anyone has looked at whether it is finite."""
        if self._log_prob is None:
            if self.active is None:
                self._log_prob = self._score()
            else:
                self._log_prob = where(self.active, self._held(self.active)._score(), 0.0)
        return self._log_prob

    def check(self) -> None:
        """Refuse a site whose numbers are wrong, naming what is wrong with it."""
        validation.check_log_prob(self.name, self.distribution(), self.scored())

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
    def drawn(self) -> Node:
        """The site as it was drawn, before a mask that came later (:meth:`unknot.Trace.keep_where`)."""
        return self if self._drawn is None else self._drawn

    def kept_where(self, active: Tensor) -> Node:
        """The same site, which now counts only where ``active``; it was drawn without that mask."""
        twin = self.copy(self.name, active)
        twin._drawn = self.drawn
        return twin

    def copy(self, name: str, active: Tensor | None) -> Node:
        """The same site under another ``name`` and, if given, behind one more ``where`` mask, ``active``."""
        twin = object.__new__(type(self))
        for kind in type(self).__mro__:
            for slot in getattr(kind, "__slots__", ()):
                setattr(twin, slot, getattr(self, slot))
        twin.name = name
        if active is not None:
            twin.active = active if self.active is None else self.active & active
            twin._log_prob = None
            twin.looked_at = False
        return twin


class Variable(Node):
    """A random variable: distribution, value, who observed it, and how its draw carries gradient."""

    __slots__ = (
        "_impossible",
        "_mass",
        "_weight",
        "baseline",
        "dist",
        "event_dims",
        "gradient",
        "label",
        "reused",
        "scored_by",
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
        self.gradient: str | None = None  # None: no item was drawn
        self.baseline: RunningMean | None = None
        self.scored_by = "mass"  # relaxed sites only: how draws are scored
        self.unbounded: Tensor | None = None  # relaxed sites only: u of the draws
        self.label: Tensor | None = None  # enumerated sites only: the labels (B, event...) where known
        self.undetached: Distribution | None = None  # detached sites only: ``dist`` with all its gradient
        self.reused = False  # the value comes from a node of another trace
        self.source: Variable | None = None  # that node
        self._mass: Tensor | None = (
            None  # enumerated sites only: log-probability of each value, -inf where masked
        )
        self._impossible: Tensor | None = None
        self._weight: Tensor | None = None

    @property
    def enumerated(self) -> bool:
        return self.gradient == "enumerate"

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
        if isinstance(self.dist, Relaxed) and self.scored_by == "density":
            return self._score_relaxed(self.dist)
        log_prob = item_log_prob(self.dist, self.value, self.event_dims)
        return self._without_impossible(log_prob) if self.enumerated else log_prob

    def _without_impossible(self, mass: Tensor) -> Tensor:
        """Masked classes, logits of -inf in q, have weight zero: they count nothing, in q and in p."""
        self._mass, self._weight, self._impossible = mass, None, None
        if seen_finite(mass):
            return mass
        if self.source is None:
            self._impossible = mass.isneginf() & (self.weight == 0)  # a label there has weight one
        impossible = self.impossible
        return mass if impossible is None else mass.masked_fill(impossible, 0.0)

    @property
    def impossible(self) -> Tensor | None:
        """Enumerated sites: which values q rules out, ``(K, S, B)``; None where none is seen."""
        if self.source is not None:
            return self.source.impossible
        self.mass()
        return self._impossible

    def _held(self, active: Tensor) -> Variable:
        twin = self.copy(self.name, None)
        assert isinstance(twin, Variable)
        twin.dist = held_distribution(self.dist, active, self.event_dims)
        twin.value = held(self.value, active, self.leading_dims)
        if self.unbounded is not None:
            twin.unbounded = held(self.unbounded, active, self.leading_dims)
        return twin

    def _score_relaxed(self, dist: Relaxed) -> Tensor:
        """Draws by the density of u, labels by their mass: a label has no density."""
        assert self.unbounded is not None
        event = self.event_dims - len(dist.event_shape)
        if self.known is True:
            return sum_event(dist.log_mass(self.value), event)
        log_prob = sum_event(dist.log_density(self.unbounded), event)
        if self.known is False:
            return log_prob
        return where(self.known, sum_event(dist.log_mass(self.value), event), log_prob)

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

    __slots__ = ("loss", "target")

    def __init__(self, name: str, prediction: Tensor, target: Tensor | None, loss: Tensor, leading_dims: int):
        super().__init__(name, prediction, target is not None, leading_dims)
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
