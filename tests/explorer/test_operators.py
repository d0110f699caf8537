"""Operators that the exporter lacks, against torch's."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from unknot.explorer.graphs import _export


class Quantiles(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.special.ndtri(x)


class Inverses(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.inv_ex(x)[0]


class Places(nn.Module):
    def __init__(self, knots: Tensor, right: bool) -> None:
        super().__init__()
        self.register_buffer("knots", knots)
        self.knots: Tensor
        self.right = right

    def forward(self, x: Tensor) -> Tensor:
        return torch.searchsorted(self.knots, x.mT.contiguous(), right=self.right).mT.float()


def run(module: nn.Module, x: Tensor) -> np.ndarray:
    made = _export(module, x, ["x"], ["y"])
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x.numpy()})[0])


def test_quantiles_of_the_normal_distribution() -> None:
    tails = torch.logspace(-12, -0.31, 60)
    p = torch.cat([tails, 1 - tails[tails > 1e-6]])[:, None]
    np.testing.assert_allclose(run(Quantiles(), p), torch.special.ndtri(p), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("right", [False, True])
def test_places_in_sorted_rows(right: bool) -> None:
    """With ties, ends, and as many items as rows."""
    knots = torch.tensor([[0.0, 1.0, 1.0, 2.0], [-1.0, 0.0, 3.0, 3.0]])
    x = torch.tensor([[1.0, 3.0], [-5.0, 9.0]])
    np.testing.assert_array_equal(run(Places(knots, right), x), Places(knots, right)(x))


def test_inverses_of_the_matrices_that_missing_cells_need() -> None:
    """I + W' W / noise, with condition numbers up to 1e4."""
    torch.manual_seed(0)
    weights = torch.randn(5, 12, 4) * torch.tensor([0.0, 0.1, 1.0, 5.0, 20.0])[:, None, None]
    matrices = torch.eye(4) + weights.mT @ weights
    np.testing.assert_allclose(run(Inverses(), matrices), torch.linalg.inv(matrices), rtol=1e-3, atol=1e-5)
