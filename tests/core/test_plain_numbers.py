"""Plain numbers as parameters keep the digits of what they score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scipy.stats
import torch

import unknot
from unknot.core.plain_numbers import in_precision_of

X = torch.tensor([0.2, 0.45, 0.7], dtype=torch.float64)
CASES: dict[str, tuple[tuple[float, ...], Callable[[Any], Any]]] = {
    "normal": ((0.1, 0.3), lambda x: scipy.stats.norm.logpdf(x, 0.1, 0.3)),
    "log_normal": ((0.1, 0.3), lambda x: scipy.stats.lognorm.logpdf(x, 0.3, scale=2.718281828459045**0.1)),
    "laplace": ((0.1, 0.3), lambda x: scipy.stats.laplace.logpdf(x, 0.1, 0.3)),
    "student_t": ((4.1, 0.1, 0.3), lambda x: scipy.stats.t.logpdf(x, 4.1, 0.1, 0.3)),
    "uniform": ((-0.1, 3.3), lambda x: scipy.stats.uniform.logpdf(x, -0.1, 3.4)),
    "beta": ((0.7, 0.3), lambda x: scipy.stats.beta.logpdf(x, 0.7, 0.3)),
    "gamma": ((2.1, 0.3), lambda x: scipy.stats.gamma.logpdf(x, 2.1, scale=1 / 0.3)),
}


@pytest.mark.parametrize("given", ["data", "node", "partial"])
@pytest.mark.parametrize("family", CASES)
def test_sixteen_digits_stay_sixteen(family: str, given: str) -> None:
    """Against scipy, for what is observed, reused and partly known."""
    numbers, truth = CASES[family]
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(X, 1.0, value=X, name="x")
    value = {"data": X, "node": q["x"], "partial": unknot.partial(X)}[given]
    getattr(p, family)(*numbers, value=value, name="x")
    torch.testing.assert_close(p["x"].log_prob, torch.as_tensor(truth(X.numpy())), rtol=1e-13, atol=1e-13)


def test_tensors_stay_as_they_are() -> None:
    loc = torch.zeros(3)
    assert in_precision_of(X, loc, 1.0)[0] is loc
    assert in_precision_of(torch.tensor([1, 2]), 1.0)[0].dtype == torch.get_default_dtype()  # type: ignore[union-attr]
