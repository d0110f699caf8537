"""Families of data nodes. A new one is its file, a line here, and its test; or a class of the user's, by name."""

from __future__ import annotations

from torch import Size, Tensor

from unknot.models.by_name import find_class
from unknot.models.likelihoods.bernoulli import BernoulliLikelihood
from unknot.models.likelihoods.counts import MultinomialLikelihood, PoissonLikelihood
from unknot.models.likelihoods.gene_counts import GENE_COUNTS
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.likelihoods.normal import NormalLikelihood
from unknot.models.likelihoods.table import TableLikelihood
from unknot.models.likelihoods.topics import MixtureTopicsLikelihood, ProductTopicsLikelihood
from unknot.models.node_spec import NodeSpec

__all__ = ["LIKELIHOODS", "Likelihood", "data_family", "likelihood", "likelihood_of"]

_ALL: tuple[
    type[Likelihood], ...
] = (  # the first that suits the data is taken, so the most particular come first
    TableLikelihood,
    BernoulliLikelihood,
    MultinomialLikelihood,
    ProductTopicsLikelihood,
    MixtureTopicsLikelihood,
    PoissonLikelihood,
    NormalLikelihood,
    *GENE_COUNTS.values(),
)
LIKELIHOODS: dict[str, type[Likelihood]] = {one.name: one for one in _ALL}


def likelihood_of(spec: NodeSpec) -> type[Likelihood]:
    """Return the family of the data node: ``likelihood_of(node).takes_columns``."""
    return find_class(spec.family.name, LIKELIHOODS, Likelihood, f"node '{spec.name}': family")


def likelihood(spec: NodeSpec, shape: Size, width: int) -> Likelihood:
    """Return the likelihood object of the data node."""
    return likelihood_of(spec)(spec, shape, width)


def data_family(x: Tensor, *, table: bool = False) -> str:
    """Return the family that suits data ``(N, ...)``; ``table`` says that they are rows of a table.

    Numbers from 0 to 1 are Bernoulli, whole numbers are counts of words, anything else is Gaussian.

    >>> import torch
    >>> data_family(torch.rand(5, 1, 8, 8)), data_family(torch.tensor([[0, 2], [1, 0]])), data_family(torch.ones(2) * 7)
    ('bernoulli', 'multinomial', 'normal')
    """
    return next(one.name for one in _ALL if one.suits(x, table))
