"""Counts that share an observed total, as the reads of a cell's genes: negative binomial, zero-inflated, Poisson."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import logsigmoid

from unknot.core.trace import Trace
from unknot.errors import DataError
from unknot.models.by_name import Named
from unknot.models.families.family import Family
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.networks.network import Trunk
from unknot.models.node_spec import NodeSpec
from unknot.models.words.counts import CountTrunk, word_counts

_LEAST = 1e-8  # of a mean, so that its logarithm is finite


class SharedCounts(Likelihood):
    """Counts ``(B, G)`` whose means are shares of the observed total N of an item,

        mean_g = N softmax(o + b)_g,

    with the network's outputs o and the logarithms b of the genes' shares in the training data. Sparse batches stay
    sparse: what costs more than a few operations is computed for the counts that are not 0. Generated items have the
    median total of the training data. The encoder sees log(1 + x).
    """

    entrywise = False

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        self.genes = shape.numel()
        self.register_buffer("base", torch.zeros(self.genes))
        self.register_buffer("library", torch.ones(()))
        self.base: Tensor
        self.library: Tensor

    @classmethod
    def check_items(cls, spec: NodeSpec, x: Tensor) -> None:
        if bool((x < 0).any()) or bool((x != x.round()).any()):
            raise DataError(
                "x holds numbers that are negative or not whole, but the model was fitted on counts."
            )

    def vector_trunk(self, hidden: Sequence[int] | None) -> Trunk:
        return CountTrunk(self.shape, hidden or (self.width,))

    def default_decoder(self, parents: Sequence[Family]) -> Named:
        return Named("mlp", {"hidden": [self.width // 2]})

    @torch.no_grad()
    def prepare(self, data: Any) -> None:
        """Take the genes' shares and the median total from the training data."""
        shares, totals = torch.ones_like(self.base), []
        for rows in torch.arange(len(data), device=data.device).split(4096):
            x = data.batch(rows).x
            totals.append(word_counts(x))
            shares += x.sum(0).to_dense().to(shares)
        self.base.copy_((shares / shares.sum()).log())
        self.library.copy_(torch.cat(totals).median())

    @abstractmethod
    def log_likelihood(self, outputs: Tensor, x: Tensor) -> Tensor:
        """Return the log-probability of counts ``(B, G)``, dense or sparse, at outputs ``(..., B, parameters)``."""

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.loss(lambda made, counts: -self.log_likelihood(made, counts), outputs, x, name=name)

    def log_mean(self, outputs: Tensor, total: Tensor) -> Tensor:
        """Return log mean_g ``(..., B, G)`` for totals ``(B,)``."""
        shares = torch.log_softmax(outputs + self.base, -1)
        return shares + total.clamp_min(_LEAST).log()[..., None]

    def mean(self, outputs: Tensor) -> Tensor:
        return self.log_mean(outputs, self.library).exp()


class ScaledPoissonLikelihood(SharedCounts):
    """Poisson counts with means that share the observed total."""

    name = "scaled_poisson"

    def log_likelihood(self, outputs: Tensor, x: Tensor) -> Tensor:
        log_mean = self.log_mean(outputs, word_counts(x))
        present = _Present(x)
        found = present.of(log_mean) * present.counts - torch.lgamma(present.counts + 1)
        return present.sum(found) - log_mean.exp().sum(-1)

    def draw(self, outputs: Tensor) -> Tensor:
        return torch.poisson(self.mean(outputs))


class NegativeBinomialLikelihood(SharedCounts):
    """Negative binomial counts with an inverse dispersion r_g for each gene: variance mean + mean² / r_g."""

    name = "negative_binomial"

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        self.log_dispersion = nn.Parameter(torch.zeros(self.genes))  # log r

    def log_likelihood(self, outputs: Tensor, x: Tensor) -> Tensor:
        zero, found, present = self._terms(outputs, x)
        return zero.sum(-1) + present.sum(found)

    def draw(self, outputs: Tensor) -> Tensor:
        r, mean = self.log_dispersion.exp(), self.mean(outputs)
        return torch.poisson(torch._standard_gamma(r.expand(mean.shape)) * mean / r)

    def _terms(self, outputs: Tensor, x: Tensor) -> tuple[Tensor, Tensor, _Present]:
        """Return log p(0) ``(..., B, G)``, and of the counts that are not 0 log p(x) - log p(0).

        log p(x) = r log(r / (r + m)) + [lgamma(x + r) - lgamma(r) - lgamma(x + 1) + x log(m / (r + m))]
        """
        log_mean = self.log_mean(outputs, word_counts(x))
        log_sum = torch.logaddexp(log_mean, self.log_dispersion)  # log(r + m)
        r = self.log_dispersion.exp()
        present = _Present(x)
        n, r_present = present.counts, present.of_genes(r)
        binomial = torch.lgamma(n + r_present) - torch.lgamma(r_present) - torch.lgamma(n + 1)
        found = binomial + n * present.of(log_mean - log_sum)
        return r * (self.log_dispersion - log_sum), found, present


class ZeroInflatedLikelihood(NegativeBinomialLikelihood):
    """Negative binomial counts that are 0 with a further probability, which the network makes for each gene."""

    name = "zero_inflated"

    @property
    def parameters_shape(self) -> Size:
        return Size((2 * self.genes,))

    def log_likelihood(self, outputs: Tensor, x: Tensor) -> Tensor:
        made, gate = outputs.chunk(2, -1)
        zero, found, present = self._terms(made, x)
        kept = logsigmoid(-gate)  # log of the probability that a count is not set to 0
        inflated = torch.logaddexp(logsigmoid(gate), kept + zero)  # log p(0)
        more = torch.where(present.counts > 0, found + present.of(kept + zero - inflated), 0.0)
        return inflated.sum(-1) + present.sum(more)

    def mean(self, outputs: Tensor) -> Tensor:
        made, gate = outputs.chunk(2, -1)
        return super().mean(made) * torch.sigmoid(-gate)

    def draw(self, outputs: Tensor) -> Tensor:
        made, gate = outputs.chunk(2, -1)
        r, mean = self.log_dispersion.exp(), super().mean(made)
        drawn = torch.poisson(torch._standard_gamma(r.expand(mean.shape)) * mean / r)
        return drawn * torch.bernoulli(torch.sigmoid(-gate))


class _Present:
    """The counts of a batch ``(B, G)`` that are not 0, or all of a dense one, and what belongs to them."""

    def __init__(self, x: Tensor) -> None:
        self.sparse, self.rows = x.is_sparse, len(x)
        if x.is_sparse:
            self.items, self.genes = x.indices()
            self.place = self.items * x.shape[1] + self.genes
        self.counts = x.values() if x.is_sparse else x

    def of(self, values: Tensor) -> Tensor:
        """Return values ``(..., B, G)`` at these counts."""
        return values.flatten(-2).index_select(-1, self.place) if self.sparse else values

    def of_genes(self, values: Tensor) -> Tensor:
        """Return values ``(G,)`` at these counts."""
        return values.index_select(0, self.genes) if self.sparse else values

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum over each item's counts, ``(..., B)``."""
        if not self.sparse:
            return values.sum(-1)
        return values.new_zeros(*values.shape[:-1], self.rows).index_add(-1, self.items, values)


GENE_COUNTS: Mapping[str, type[SharedCounts]] = {
    one.name: one for one in (NegativeBinomialLikelihood, ZeroInflatedLikelihood, ScaledPoissonLikelihood)
}
