"""One switch for the checks that look at values, and the checks of a single site.

**What is looked at when.** Observations are looked at when they come in. Parameters of the families that fill a
training step (:data:`_SHOWN`) are not: whatever is wrong with them makes a log-probability NaN or infinite, and a sum
of log-probabilities tells with one look whether any is. Only then is every site checked in turn, so that the error
names the first one that is wrong, in the same words as if it had been checked at once. What cannot look, a compiled
step, shows a total that is not finite; the training loop then repeats the step uncompiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor
from torch.distributions import (
    Bernoulli,
    Distribution,
    Laplace,
    Multinomial,
    Normal,
    TransformedDistribution,
    constraints,
)

from unknot.core.handlers import Handler, innermost
from unknot.core.numerics import all_finite
from unknot.core.relaxed import BinaryConcrete, Concrete, Relaxed
from unknot.errors import TraceError

if TYPE_CHECKING:
    from unknot.core.node import Node

# Families whose log-probability is never finite where a parameter is outside its domain, and whose draws do not mind:
# NaN anywhere is NaN in the end, and scales enter by their logarithm.
_SHOWN = (Normal, Laplace, Concrete, BinaryConcrete)


class validation(Handler):
    """Switch value checks on or off: ``unknot.validation(False)``, or as a context manager.

    Names and shapes are always checked, they cost nothing. What is switched is all that must look at numbers:
    parameters and labels in their ranges, log-probabilities that are finite.

    Parameters
    ----------
    enabled : bool
        Whether to check. A ``with`` block restores what was before.

    Examples
    --------
    >>> with validation(False):
    ...     is_on()
    False
    >>> is_on()
    True
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        super().__enter__()

    def __enter__(self) -> Self:
        return self


def is_on() -> bool:
    """Whether value checks run now. Never inside ``torch.compile``: they would break the graph."""
    handler = innermost(validation)
    enabled = handler.enabled if isinstance(handler, validation) else True
    return enabled and not torch.compiler.is_compiling()


def parameters_show(dist: Distribution, observed: bool) -> bool:
    """Whether parameters outside their domain make the log-probability NaN or infinite: it is enough to look there."""
    if isinstance(dist, TransformedDistribution):
        return parameters_show(dist.base_dist, observed)
    if type(dist) is Bernoulli:  # torch cannot draw with a NaN
        return observed and "logits" in dist.__dict__
    if isinstance(dist, Relaxed) and isinstance(dist.temperature, Tensor):  # a mass does not show it
        return False
    return type(dist) in _SHOWN


def check_finite(nodes: Iterable[Node]) -> None:
    """One look at the log-probabilities of all ``nodes``; if any is not finite, refuse the first site that is wrong."""
    nodes = [node for node in nodes if not node.validated]
    if not all_finite([node.compute_log_prob() for node in nodes]):
        check_each(nodes)
    for node in nodes:
        node.validated = True


def check_each(nodes: Iterable[Node]) -> None:
    """Check every site in turn: parameters, what was observed, log-probability."""
    for node in nodes:
        node.check()


def check_parameters(name: str, dist: Distribution) -> None:
    """Refuse parameters outside their domain, NaN included, naming site, parameter and item."""
    if isinstance(dist, TransformedDistribution):
        return check_parameters(name, dist.base_dist)
    for parameter, constraint in dist.arg_constraints.items():
        if parameter not in dist.__dict__ or constraints.is_dependent(constraint):
            continue
        given = getattr(dist, parameter)
        if not isinstance(given, Tensor):
            continue
        good = constraint.check(given)
        if not bool(good.all()):
            index, shown = _first_bad(good, given)
            raise TraceError(
                f"site '{name}': parameter {parameter} of {type(dist).__name__} must be {_spell(constraint)}, "
                f"but at index {index} it is {shown}. If it is NaN, training has diverged: lower the learning "
                "rate or clip gradients; otherwise pass the network's output through softplus, exp or softmax."
            )


def check_value(name: str, dist: Distribution, value: Tensor, known: Tensor | bool, event_dims: int) -> None:
    """Refuse an observed value outside the support of its distribution."""
    support = _observable(dist)
    if support is None or constraints.is_dependent(support) or _at_a_glance(support, value):
        return
    good = support.check(value) & ~_is_nan(value, support)
    good = _all_event(good, value.ndim - event_dims)
    if isinstance(known, Tensor):
        good = good | ~known
    if not bool(good.all()):
        index, shown = _first_bad(good, value)
        raise TraceError(
            f"site '{name}': the observed value at item {index} is {shown}, but {type(dist).__name__} here "
            f"takes values that are {_spell(support)}. If it marks an unknown label, wrap the labels in "
            "unknot.partial(values) or unknot.partial(values, known)."
        )


def check_log_prob(name: str, dist: object, log_prob: Tensor) -> None:
    """Refuse a NaN or infinite log-probability, naming the site, the item and the parameters there."""
    good = torch.isfinite(log_prob)
    if bool(good.all()):
        return
    index, shown = _first_bad(good, log_prob)
    raise TraceError(
        f"site '{name}': log-probability {shown} at item {index} of {type(dist).__name__}"
        f"({_describe_parameters(dist)}). Look at the parameters for values at the edge of their range."
    )


def _observable(dist: Distribution) -> Any:
    """What may be observed: the support, made wider where a likelihood is customarily used beyond it."""
    if isinstance(dist, Bernoulli):
        return constraints.unit_interval  # gray pixels between 0 and 1
    if isinstance(dist, Multinomial):
        return constraints.independent(constraints.nonnegative, 1)  # documents of any length
    return dist.support


def _at_a_glance(support: Any, value: Tensor) -> bool:
    """Whether one pass over the values shows that they are all in the support; False says nothing."""
    if support is constraints.real:
        return all_finite([value])
    if support is constraints.unit_interval and value.numel() > 0:
        low, high = value.detach().aminmax()  # NaN if there is one
        return low.item() >= 0 and high.item() <= 1
    return False


def _describe_parameters(dist: object) -> str:
    names = getattr(dist, "arg_constraints", {})
    given = {n: dist.__dict__[n] for n in names if isinstance(dist.__dict__.get(n), Tensor)}
    return ", ".join(
        f"{n} in [{v.min().item():.4g}, {v.max().item():.4g}]" for n, v in given.items() if v.numel() > 0
    )


def _is_nan(value: Tensor, support: Any) -> Tensor:
    nan = torch.isnan(value) if value.is_floating_point() else torch.zeros_like(value, dtype=torch.bool)
    return nan.flatten(-support.event_dim).any(-1) if support.event_dim else nan


def _all_event(good: Tensor, leading: int) -> Tensor:
    return good.flatten(leading).all(-1) if good.ndim > leading else good


def _first_bad(good: Tensor, values: Tensor) -> tuple[int | tuple[int, ...], str]:
    """Index of the first item that fails and its value, shortened."""
    index = tuple(int(i) for i in (~good).nonzero()[0])
    bad = values[index] if index else values
    shown = (
        f"{bad.item():.6g}" if bad.numel() == 1 else str([round(v, 4) for v in bad.flatten().tolist()[:6]])
    )
    return (index[0] if len(index) == 1 else index), shown


def _spell(constraint: Any) -> str:
    """A constraint in words."""
    text = str(constraint)
    words = {
        "Real()": "real numbers",
        "IndependentConstraint(Real(), 1)": "real numbers",
        "GreaterThan(lower_bound=0.0)": "positive",
        "GreaterThanEq(lower_bound=0.0)": "not negative",
        "IntegerGreaterThan(lower_bound=0)": "whole numbers, not negative",
        "OneHot()": "one-hot vectors or class indices",
        "Simplex()": "vectors of probabilities that sum to one",
        "Boolean()": "0 or 1",
        "Interval(lower_bound=0.0, upper_bound=1.0)": "between 0 and 1",
    }
    if text.startswith("IntegerInterval(lower_bound=0"):
        return f"whole numbers from 0 to {int(constraint.upper_bound)}"
    return words.get(text, text)
