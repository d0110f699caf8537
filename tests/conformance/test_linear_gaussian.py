"""A linear Gaussian encoder: information and correlation in closed form, approached as the batch grows."""

import math

import pytest
import torch

import unknot
from unknot.objectives import information

WEIGHT = torch.tensor([[1.0, 0.5], [0.8, -0.3]], dtype=torch.float64)
SIGMA = 0.9
COVARIANCE = WEIGHT @ WEIGHT.mT + SIGMA**2 * torch.eye(2, dtype=torch.float64)
JOINT = 0.5 * (torch.logdet(COVARIANCE) - 2 * math.log(SIGMA**2)).item()
CORRELATION = 0.5 * (COVARIANCE.diagonal().log().sum() - torch.logdet(COVARIANCE)).item()


def estimates(batch: int, estimator: str, batches: int = 30) -> torch.Tensor:
    """I(x; z) and TC(z) over batches, (batches, 2), for an unlimited data set."""
    rows = []
    for _ in range(batches):
        q = unknot.Trace()
        q.normal(torch.randn(batch, 2, dtype=torch.float64) @ WEIGHT.mT, SIGMA, name="z")
        found = information(q, 10**9, estimator=estimator)
        rows.append([found.joint.item(), found.total_correlation.item()])
    return torch.tensor(rows)


@pytest.mark.parametrize("batch", [256, 512])
def test_stratified_estimates_reach_the_closed_form(batch):
    found = estimates(batch, "stratified")
    error = found.std(0) / 30**0.5
    truth = torch.tensor([JOINT, CORRELATION])
    assert ((found.mean(0) - truth).abs() < 5 * error + 4 / batch).all()


def test_naive_information_is_too_low():
    """Its own item counts N/B times: log q^ is too high."""
    found = estimates(8, "naive", 300)[:, 0]
    assert found.mean() + 5 * found.std() / 300**0.5 < JOINT


def test_minibatch_weighted_values_are_off_by_their_constant():
    """log q^ is low by log N, so I is high by it and TC over two dimensions, too."""
    naive, weighted = [], []
    for estimator, kept in (("naive", naive), ("minibatch_weighted", weighted)):
        torch.manual_seed(5)
        kept.append(estimates(64, estimator, 2))
    torch.testing.assert_close(
        weighted[0] - naive[0], torch.full((2, 2), math.log(10**9)), rtol=1e-5, atol=1e-4
    )
