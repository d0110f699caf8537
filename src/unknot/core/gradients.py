"""How a draw carries gradient, chosen at the site by name.

=====================  ==========================================================================
``pathwise``           reparametrized draw (default wherever torch has one): z = g(ε, λ), so that
                       d/dλ E f(z) = E f'(z) dg/dλ (S17 sec. 2.2)
``concrete``           soft relaxed draw of a Concrete or relaxed Bernoulli site (its default)
``straight_through``   hard value forward, the relaxation's or the probabilities' gradient backward
``plug_in``            the probability vector itself goes on (S16 sec. 2.2): exact if f is linear, biased
                       otherwise, without variance
``score_function``     REINFORCE with a leave-one-out or running-mean baseline (default for discrete)
``enumerate``          the whole support becomes an axis that objectives sum over exactly
``detached``           a hard draw without gradient: the site learns from its labels and from penalties on
                       its classes, and from nothing that is computed from it
=====================  ==========================================================================

For a draw z ~ q that cannot be reparametrized and a quantity f(z), the score function gives

    ∇ E f(z) = E [∇ f(z) + (f(z) - b) ∇ log q(z)]

for any baseline b that does not depend on z. With S >= 2 samples b_s is the mean of the *other* samples' values
(leave-one-out); with one sample, a running mean kept by :class:`RunningMean`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Size, Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution, Normal, OneHotCategorical, Uniform
from torch.nn.functional import one_hot

from unknot.core.axes import SAMPLES
from unknot.core.distributions import held_distribution, with_tensors
from unknot.core.handlers import draw_by_rank, fill_noise
from unknot.core.potentials import Truncated
from unknot.core.relaxed import BinaryConcrete, Concrete, Relaxed
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
    if is_finite(dist):
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


# ---- finite supports --------------------------------------------------------------------------------------


def is_finite(dist: Distribution) -> bool:
    """Whether the support can be listed."""
    return isinstance(dist, Concrete | BinaryConcrete | Categorical | OneHotCategorical | Bernoulli)


def support(dist: Distribution) -> Tensor:
    """All K values of a finite support, ``(K, event...)``."""
    if isinstance(dist, Concrete | OneHotCategorical):
        like = dist.logits
        return torch.eye(like.shape[-1], dtype=like.dtype, device=like.device)
    if isinstance(dist, BinaryConcrete | Bernoulli):
        return torch.arange(2, dtype=dist.logits.dtype, device=dist.logits.device)
    assert isinstance(dist, Categorical)
    return torch.arange(dist.logits.shape[-1], device=dist.logits.device)


def mode(dist: Distribution) -> Tensor:
    """The most likely class or answer of a discrete distribution, as its draws have it; else the mean."""
    if isinstance(dist, Concrete | OneHotCategorical):
        return one_hot(dist.logits.argmax(-1), dist.logits.shape[-1]).to(dist.logits.dtype)
    if isinstance(dist, Categorical):
        return dist.logits.argmax(-1)
    if isinstance(dist, Bernoulli | BinaryConcrete):
        return (dist.logits > 0).to(dist.logits.dtype)
    return dist.mode if isinstance(dist, Truncated) else dist.mean


# ---- samplers ---------------------------------------------------------------------------------------------


def _pathwise(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    if isinstance(dist, Truncated):
        base = dist.base.expand(dist.batch_shape)
        return dist.transport(_pathwise(base, sample_shape, event_dims))
    if type(dist) is Normal:
        epsilon = fill_noise(sample_shape + dist.loc.shape, event_dims, dist.loc, Tensor.normal_)
        return dist.loc + dist.scale * epsilon
    return draw_by_rank(lambda: dist.rsample(sample_shape))


def _plug_in(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """The vector of probabilities, once per sample; scored by the mass it makes the site's KL term exact."""
    assert isinstance(dist, Relaxed | OneHotCategorical | Bernoulli)
    probs = dist.probs
    return probs.expand(sample_shape + probs.shape) if sample_shape else probs


def _soft(dist: Distribution, sample_shape: Size, event_dims: int) -> tuple[Tensor, Tensor]:
    """Soft value y and the unbounded u behind it."""
    assert isinstance(dist, Relaxed)
    unbounded = dist.sample_unbounded(sample_shape, event_dims)
    return dist.squash(unbounded), unbounded


def _straight_through(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """An exact discrete draw whose gradient is that of its soft stand-in.

    The stand-in is the relaxed draw at a relaxed site (Gumbel straight-through) and the probabilities at a plain
    discrete one. Biased, low variance; the hard value is scored by its mass.
    """
    if isinstance(dist, Relaxed):
        soft = dist.squash(dist.sample_unbounded(sample_shape, event_dims))
        hard = dist.harden(soft.detach())
    else:
        assert isinstance(dist, OneHotCategorical | Bernoulli)
        soft = dist.probs
        hard = draw_by_rank(lambda: dist.sample(sample_shape))
    return hard + (soft - soft.detach())


def _without_gradient(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """A draw without gradient; a relaxed site draws its discrete variable."""
    with torch.no_grad():
        if isinstance(dist, Relaxed):
            return dist.harden(dist.squash(dist.sample_unbounded(sample_shape, event_dims)))
        return draw_by_rank(lambda: dist.sample(sample_shape))


_SAMPLERS: dict[str, Callable[[Distribution, Size, int], Tensor | tuple[Tensor, Tensor]]] = {
    "pathwise": _pathwise,
    "concrete": _soft,
    "straight_through": _straight_through,
    "plug_in": _plug_in,
    "score_function": _without_gradient,
    "detached": _without_gradient,
}


def detach_unlabeled(dist: Distribution, known: Tensor | bool, event_dims: int) -> Distribution:
    """Copy ``dist`` so that its parameters pass gradient at the ``known`` items alone.

    For ``gradient="detached"``, decisions that are taught rather than discovered, such as where to look next. Items
    without a label count the site at its full value, log p - log q, but its parameters get no gradient from them:
    neither through the draw, which is hard, nor through log q, which alone would only flatten the choice.
    """
    if not isinstance(known, Tensor):
        return dist if known else with_tensors(dist, Tensor.detach)
    own = len(dist.event_shape)
    if len(dist.batch_shape) + own == event_dims:  # one set of parameters for all items
        dist = dist.expand(known.shape + dist.batch_shape)
    return held_distribution(dist, known, event_dims)


# ---- score function ---------------------------------------------------------------------------------------


class RunningMean(nn.Module):
    """A baseline for single-sample draws: an exponential average of past values, part of the model's state.

    ``decay`` is the share of the old mean that each new value leaves: 0.95 looks back over some twenty steps.

    >>> baseline = RunningMean(decay=0.5)
    >>> baseline.update(torch.tensor([4.0]))   # the first value is taken as it is
    >>> baseline.update(torch.tensor([0.0]))
    >>> baseline.mean.item()
    2.0
    """

    mean: Tensor
    started: Tensor

    def __init__(self, decay: float = 0.95) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("started", torch.zeros((), dtype=torch.bool))

    def update(self, values: Tensor) -> None:
        """Let ``values`` enter the average, while training."""
        if self.training:
            now = values.detach().mean().to(self.mean.dtype)
            updated = torch.where(self.started, self.decay * self.mean + (1 - self.decay) * now, now)
            self.mean.copy_(updated)
            self.started.fill_(True)


class Baselines:
    """The running means of one step, as a block: all are read before any of them sees a value of the step.

    A mean that two sites share, as of a sub-model in a loop, would otherwise give the second site a baseline that
    depends on its own draw, and that biases the gradient.

    >>> shared = RunningMean()
    >>> with Baselines() as baselines:
    ...     [baselines.read(shared, torch.tensor([value])).item() for value in (3.0, 5.0)]
    [0.0, 0.0]
    >>> shared.mean.item()
    3.0999999046325684
    """

    def __init__(self) -> None:
        self._seen: list[tuple[RunningMean, Tensor]] = []

    def read(self, baseline: RunningMean, values: Tensor) -> Tensor:
        """The mean before this step; ``values`` enter it at the end of the block."""
        self._seen.append((baseline, values))
        return baseline.mean.clone()

    def __enter__(self) -> Baselines:
        return self

    def __exit__(self, *error: object) -> None:
        for baseline, values in self._seen:
            baseline.update(values)


@dataclass(frozen=True)
class ScoreFunction:
    """``gradient=ScoreFunction(baseline)``: the score function with a running-mean baseline.

    ``baseline`` is a :class:`RunningMean`, best kept as a part of the model so that checkpoints hold it. Several sites
    may share one. ``gradient="score_function"`` alone uses the leave-one-out baseline when there are two samples or
    more, and none otherwise.
    """

    baseline: RunningMean


def leave_one_out(values: Tensor) -> Tensor:
    """Mean of the other samples' values, per item: ``(..., S, B) -> (..., S, B)``. Zero for S = 1."""
    samples = values.shape[SAMPLES] if values.ndim >= 2 else 1
    if samples == 1:
        return torch.zeros_like(values)
    return (values.sum(SAMPLES, keepdim=True) - values) / (samples - 1)
