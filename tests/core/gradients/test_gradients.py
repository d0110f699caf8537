"""One contract for all estimators and families: on average, the exact gradient.

Every item of a large batch is an independent replicate, so one backward pass gives thousands of gradients.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import unknot
from tests.core.gradients.cases import CASES, ENTROPY, Case
from tests.statistics import assert_mean
from unknot.core.expectation import expect

REPLICATES = 20_000
PAIRS = [pytest.param(case, way, id=f"{case.name}-{way}") for case in CASES for way in case.unbiased]
SCORED = [pytest.param(case, id=case.name) for case in CASES if "score_function" in case.unbiased]


def gradients(
    case: Case, gradient: Any, samples: int | None, replicates: int = REPLICATES, offset: float = 0.0
) -> Tensor:
    """One gradient of E[f] per replicate, ``(N, D)``."""
    theta = torch.tensor(case.theta).expand(replicates, -1).clone().requires_grad_()
    q = unknot.Trace(samples)
    value = case.site(q, theta, gradient)
    f = case.g(value) + ENTROPY * q["v"].log_prob + offset
    return torch.autograd.grad(expect(q, f).sum(), theta)[0]


@pytest.mark.parametrize(("case", "way"), PAIRS)
@pytest.mark.parametrize("samples", [None, 3])
def test_the_mean_gradient_is_exact(case: Case, way: str, samples: int | None) -> None:
    """With score_function and three samples this is the leave-one-out baseline; without samples, none."""
    assert_mean(gradients(case, way, samples), case.exact_gradient(), rounding=2e-4)


@pytest.mark.parametrize("case", SCORED)
def test_a_running_mean_baseline_leaves_the_mean_gradient_exact(case: Case) -> None:
    baseline = unknot.RunningMean()
    gradient = unknot.ScoreFunction(baseline)
    gradients(case, gradient, None, replicates=100)  # warm up
    assert baseline.mean != 0
    assert_mean(gradients(case, gradient, None), case.exact_gradient(), rounding=2e-4)


@pytest.mark.parametrize(("case", "way"), [p for p in PAIRS if p.values[1] == "enumerate"])
def test_enumeration_has_no_variance(case: Case, way: str) -> None:
    torch.testing.assert_close(
        gradients(case, way, None, 2).double(), case.exact_gradient().expand(2, -1), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("case", SCORED)
def test_leave_one_out_reduces_variance(case: Case) -> None:
    """Against the mean of as many single-sample gradients without a baseline, for f far from zero as bounds are."""
    samples = 4
    with_baseline = gradients(case, "score_function", samples, 4000, offset=-500.0)
    alone = gradients(case, "score_function", None, 4000 * samples, offset=-500.0)
    without = alone.reshape(4000, samples, -1).mean(1)
    assert with_baseline.var(0).sum() < 0.5 * without.var(0).sum()


def test_a_running_mean_reduces_variance() -> None:
    case = next(case for case in CASES if case.name == "bernoulli")
    gradient = unknot.ScoreFunction(unknot.RunningMean())
    for _ in range(50):
        gradients(case, gradient, None, 100)
    with_baseline = gradients(case, gradient, None)
    without = gradients(case, "score_function", None)
    assert with_baseline.var(0).sum() < 0.5 * without.var(0).sum()
