"""Counts that share a total, beside scipy; dense and sparse batches, moments of draws, and a model of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from torch import Size, Tensor

from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models import GraphicalModel, node
from unknot.models.likelihoods.gene_counts import GENE_COUNTS, SharedCounts
from unknot.objectives import elbo

SIZES = st.integers(1, 3)


def made(name: str, genes: int) -> SharedCounts:
    torch.manual_seed(1)
    likelihood = GENE_COUNTS[name](node("x", name, parents=["z"]), Size((genes,)), 8).double()
    likelihood.base.copy_(torch.randn(genes))
    for parameter in likelihood.parameters():
        torch.nn.init.normal_(parameter)
    return likelihood


def by_scipy(likelihood: SharedCounts, outputs: Tensor, x: Tensor) -> Any:
    """The same by scipy's distributions, entry by entry."""
    genes = x.shape[-1]
    logits = outputs[..., :genes] + likelihood.base
    mean = (logits.softmax(-1) * x.sum(-1, keepdim=True)).detach().numpy()
    if likelihood.name == "scaled_poisson":
        return stats.poisson.logpmf(x.numpy(), mean).sum(-1)
    r = likelihood.log_dispersion.exp().detach().numpy()
    found = stats.nbinom.logpmf(x.numpy(), r, r / (r + mean))
    if likelihood.name == "zero_inflated":
        gate = outputs[..., genes:].sigmoid().detach().numpy()
        found = np.log(
            np.where(x.numpy() == 0, gate + (1 - gate) * np.exp(found), (1 - gate) * np.exp(found))
        )
    return found.sum(-1)


@pytest.mark.parametrize("name", GENE_COUNTS)
@settings(max_examples=15, deadline=None)
@given(samples=SIZES, items=SIZES, genes=SIZES, seed=st.integers(0, 99))
def test_log_probabilities_are_those_of_scipy(
    name: str, samples: int, items: int, genes: int, seed: int
) -> None:
    likelihood, draw = made(name, genes), np.random.default_rng(seed)
    x = torch.from_numpy(draw.poisson(2.0, (items, genes)).astype(np.float64))
    x[:, 0] += 1  # a total of 0 has no shares
    outputs = torch.from_numpy(draw.normal(size=(samples, items, likelihood.parameters_shape[0])))
    dense = likelihood.log_likelihood(outputs, x)
    assert dense.shape == (samples, items)
    assert np.allclose(dense.detach(), by_scipy(likelihood, outputs, x))
    assert torch.allclose(likelihood.log_likelihood(outputs, x.to_sparse().coalesce()), dense)


@pytest.mark.parametrize("name", GENE_COUNTS)
def test_draws_have_the_mean(name: str) -> None:
    likelihood = made(name, 3)
    likelihood.library.fill_(20.0)
    outputs = torch.randn(1, likelihood.parameters_shape[0], dtype=torch.float64).expand(20_000, -1)
    drawn, mean = likelihood.draw(outputs), likelihood.mean(outputs)[0]
    error = drawn.std(0) / 20_000**0.5
    assert bool(((drawn.mean(0) - mean).abs() < 5 * error).all())  # fails by chance once in 500,000 runs


@pytest.mark.parametrize("name", GENE_COUNTS)
def test_a_model_of_sparse_counts_learns(name: str) -> None:
    draw = np.random.default_rng(0)
    rates = np.where(np.arange(12)[None] < 6, 6.0, 0.5)[:, :]
    rows = draw.poisson(np.where(draw.integers(0, 2, 64)[:, None], rates, rates[:, ::-1]))
    data = Dataset("cells", SparseCounts.from_scipy(sparse.csr_matrix(rows)), torch.arange(64))
    torch.manual_seed(0)
    nodes = [node("z", "normal", 1, inferred_from=["x"]), node("x", name, parents=["z"])]
    model = GraphicalModel(nodes, shape=(12,))
    model.prepare(data)
    assert float(model.likelihood.library) == float(np.sort(rows.sum(1))[31])
    optimizer, batch, losses = torch.optim.Adam(model.parameters(), 1e-2), data.batch(range(64)), []
    for _ in range(60):
        optimizer.zero_grad()
        loss = elbo(*model(batch)).loss
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 3
    assert model.sample_data(model.encode(batch.x)).shape == (64, 12)
