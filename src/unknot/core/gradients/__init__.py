"""How a draw carries gradient, chosen at the site by name.

=====================  ==========================================================================
``pathwise``           reparametrised draw (default wherever torch has one)
``concrete``           soft relaxed draw of a Concrete or relaxed Bernoulli site (its default)
``straight_through``   hard value forward, the relaxation's or the probabilities' gradient backward
``plug_in``            the probability vector itself goes on (S16 sec. 2.2)
``score_function``     REINFORCE with a leave-one-out or running-mean baseline (default for discrete)
``enumerate``          the whole support becomes an axis that objectives sum over exactly
``detached``           a hard draw without gradient: the site learns from labels and from rewards of its classes
=====================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torch import Size, Tensor
from torch.distributions import Bernoulli, Distribution, OneHotCategorical, Uniform

from unknot.core.gradients import enumeration, pathwise, plug_in, relaxation, score_function
from unknot.core.relaxed import Relaxed
from unknot.errors import TraceError


class Draw(NamedTuple):
    """A draw as the site keeps it."""

    value: Tensor
    unbounded: Tensor | None = None  # relaxed sites keep u, where their density lives


def default(dist: Distribution) -> str:
    """The estimator a site uses when none is named."""
    if isinstance(dist, Relaxed):
        return "concrete"
    return "pathwise" if dist.has_rsample else "score_function"


def choices(dist: Distribution) -> list[str]:
    """The estimators that fit a distribution, its default first."""
    fitting = [default(dist)]
    if isinstance(dist, Relaxed | OneHotCategorical | Bernoulli):
        fitting += ["straight_through", "plug_in"]
    if enumeration.is_finite(dist):
        fitting.append("enumerate")
    if "score_function" not in fitting and not isinstance(dist, Uniform):  # a support that moves has no score
        fitting.append("score_function")
    return [*fitting, "detached"]


def refuse_unfit(name: str, dist: Distribution, gradient: str) -> None:
    """Refuse an estimator that does not fit a site's distribution."""
    if gradient not in choices(dist):
        raise TraceError(
            f"site '{name}': gradient='{gradient}' does not fit {type(dist).__name__}; "
            f"choose one of {', '.join(choices(dist))}"
        )


def draw(dist: Distribution, gradient: str, sample_shape: Size, event_dims: int) -> Draw:
    """Draw from ``dist`` with leading ``sample_shape``, in the way named by ``gradient``.

    ``event_dims`` is how many trailing axes of the value belong to one item.
    """
    value = _SAMPLERS[gradient](dist, sample_shape, event_dims)
    return Draw(*value) if isinstance(value, tuple) else Draw(value)


_SAMPLERS: dict[str, Callable[[Distribution, Size, int], Tensor | tuple[Tensor, Tensor]]] = {
    "pathwise": pathwise.sample,
    "concrete": relaxation.sample_soft,
    "straight_through": relaxation.sample_straight_through,
    "plug_in": plug_in.sample,
    "score_function": score_function.sample,
    "enumerate": enumeration.support,
    "detached": score_function.sample,
}
