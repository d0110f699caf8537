"""Counts."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import softplus

from unknot.core.trace import Trace
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.networks import Trunk
from unknot.models.word_networks import CountTrunk


class PoissonLikelihood(Likelihood):
    """Counts, each with its own rate."""

    name = "poisson"

    def trunk(self) -> Trunk:
        return CountTrunk(self.shape, self.spec.recognition_hidden or (self.width,))

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.poisson(softplus(outputs) + 1e-6, value=x, name=name, event_dims=len(self.shape))

    def mean(self, outputs: Tensor) -> Tensor:
        return softplus(outputs)
