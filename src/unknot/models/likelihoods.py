"""Data nodes: how a decoder's outputs score the data, and which networks suit the data's shape."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import softplus

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.face_trunk import FaceTrunk
from unknot.models.networks import CountTrunk, ImageDecoder, ImageTrunk, Trunk, VectorDecoder, VectorTrunk
from unknot.models.spec import NodeSpec
from unknot.models.table import Table, TableTrunk

_SMALL_IMAGE = 28 * 28  # up to here a perceptron draws images as well as convolutions, and faster


class Likelihood(nn.Module, ABC):
    """A data node of a given shape. ``site`` scores data (or, given none, shows what would be generated)."""

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__()
        self.spec, self.shape, self.width = spec, shape, width

    def trunk(self) -> Trunk:
        """The recogniser's first network: data to ``features`` numbers."""
        if self.spec.recogniser == "faces":
            return FaceTrunk(self.shape)
        if len(self.shape) == 3 and not self.spec.recognition_hidden:
            channels = self.spec.channels or (32, 64, 64)
            return ImageTrunk(self.shape, channels, pooled=self.spec.pooled)
        return VectorTrunk(self.shape, self.spec.recognition_hidden or (self.width,))

    def decoder(self, inputs: int) -> nn.Module:
        """The generator's last network: parents' values to the parameters of the data."""
        if len(self.shape) == 3 and math.prod(self.shape) > _SMALL_IMAGE and not self.spec.hidden:
            return ImageDecoder(inputs, self.shape, width=self.width)
        return VectorDecoder(inputs, self.shape, self.spec.hidden or (self.width, self.width))

    @abstractmethod
    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        """Score x; with None, draw."""

    @abstractmethod
    def mean(self, outputs: Tensor) -> Tensor:
        """The expected data, for pictures."""


class BernoulliLikelihood(Likelihood):
    """Pixels between 0 and 1."""

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.bernoulli(
            logits=outputs, value=x, name=name, gradient="score_function", event_dims=len(self.shape)
        )

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.sigmoid()


class NormalLikelihood(Likelihood):
    """Real numbers with one standard deviation: given, or learned."""

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        self.raw_scale = nn.Parameter(torch.zeros(())) if spec.scale is None else None

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        scale = self.spec.scale if self.raw_scale is None else softplus(self.raw_scale) + 1e-2
        assert scale is not None
        trace.normal(outputs, scale, value=x, name=name, event_dims=len(self.shape))

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs


class PoissonLikelihood(Likelihood):
    """Counts, each with its own rate."""

    def trunk(self) -> Trunk:
        return CountTrunk(self.shape, self.spec.recognition_hidden or (self.width,))

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.poisson(softplus(outputs) + 1e-6, value=x, name=name, event_dims=len(self.shape))

    def mean(self, outputs: Tensor) -> Tensor:
        return softplus(outputs)


class MultinomialLikelihood(PoissonLikelihood):
    """Bags of words: the words of a document given its length."""

    def decoder(self, inputs: int) -> nn.Module:
        return VectorDecoder(inputs, self.shape, self.spec.hidden)

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.multinomial(100, logits=outputs, value=x, name=name)

    def mean(self, outputs: Tensor) -> Tensor:
        return outputs.softmax(-1)


class TableLikelihood(Likelihood):
    """Columns of several kinds, with missing entries."""

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        if not spec.columns:
            raise SpecError(f"node '{spec.name}': a table needs columns")
        self.table = Table(spec.columns)
        if tuple(shape) != (len(spec.columns),):
            raise SpecError(
                f"node '{spec.name}': {len(spec.columns)} columns are described, but rows have {shape[0]}"
            )

    def trunk(self) -> Trunk:
        return TableTrunk(self.table, self.spec.recognition_hidden or (self.width,))

    def decoder(self, inputs: int) -> nn.Module:
        hidden = self.spec.hidden or (self.width, self.width)
        return VectorDecoder(inputs, Size((self.table.parameters_size,)), hidden)

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.loss(self.table.negative_log_likelihood, outputs, x, name=name)

    def mean(self, outputs: Tensor) -> Tensor:
        return self.table.mean(outputs)


_LIKELIHOODS: dict[str, type[Likelihood]] = {
    "bernoulli": BernoulliLikelihood,
    "normal": NormalLikelihood,
    "poisson": PoissonLikelihood,
    "multinomial": MultinomialLikelihood,
    "table": TableLikelihood,
}


def likelihood(spec: NodeSpec, shape: Size, width: int) -> Likelihood:
    """The likelihood object of the data node."""
    return _LIKELIHOODS[spec.family](spec, shape, width)
