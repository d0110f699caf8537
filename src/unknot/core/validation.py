"""One switch for the checks that look at values, and the checks of a single site."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Distribution, Multinomial, TransformedDistribution, constraints

from unknot.errors import TraceError

_enabled = True


class validation:
    """Switch value checks on or off: ``unknot.validation(False)``, or as a context manager.

    ``enabled`` says which; a ``with`` block puts back what was before. Names and shapes are always checked, they
    cost nothing. What is switched is all that must look at numbers: parameters and labels in their ranges,
    log-probabilities that are finite.

    >>> with validation(False):
    ...     is_on()
    False
    >>> is_on()
    True
    """

    def __init__(self, enabled: bool) -> None:
        global _enabled
        self._before = _enabled
        _enabled = enabled

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        global _enabled
        _enabled = self._before


def is_on() -> bool:
    """Whether value checks run now. Never inside ``torch.compile``: they would break the graph."""
    return _enabled and not torch.compiler.is_compiling()


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
    if support is None or constraints.is_dependent(support):
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
        return constraints.unit_interval  # grey pixels between 0 and 1
    if isinstance(dist, Multinomial):
        return constraints.independent(constraints.nonnegative, 1)  # documents of any length
    return dist.support


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
