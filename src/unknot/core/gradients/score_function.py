"""Score-function gradients with a baseline (REINFORCE).

For a draw z ~ q that cannot be reparametrised and a quantity f(z),

    ∇ E f(z) = E [∇ f(z) + (f(z) - b) ∇ log q(z)]

for any baseline b that does not depend on z. With S >= 2 samples b_s is the mean of the *other* samples'
values (leave-one-out); with one sample, a running mean kept by :class:`RunningMean`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Size, Tensor, nn
from torch.distributions import Distribution

from unknot.core import noise
from unknot.core.axes import SAMPLES
from unknot.core.relaxed import Relaxed


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


def sample(dist: Distribution, sample_shape: Size, event_dims: int) -> Tensor:
    """A draw without gradient; a relaxed site draws its discrete variable."""
    with torch.no_grad():
        if isinstance(dist, Relaxed):
            return dist.harden(dist.squash(dist.sample_unbounded(sample_shape, event_dims)))
        return noise.own_turn(lambda: dist.sample(sample_shape))


def leave_one_out(values: Tensor) -> Tensor:
    """Mean of the other samples' values, per item: ``(..., S, B) -> (..., S, B)``. Zero for S = 1."""
    samples = values.shape[SAMPLES] if values.ndim >= 2 else 1
    if samples == 1:
        return torch.zeros_like(values)
    return (values.sum(SAMPLES, keepdim=True) - values) / (samples - 1)
