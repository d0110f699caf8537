"""z ~ N(0, 1), x | z ~ N(a z, s²): evidence and posterior in closed form, as Trace programs with any q."""

from __future__ import annotations

import math

import torch
from torch import Tensor

import unknot

A, NOISE = 1.7, 0.6


def log_evidence(x: Tensor) -> Tensor:
    """log N(x; 0, a² + s²)."""
    variance = A**2 + NOISE**2
    return -0.5 * (x**2 / variance + math.log(2 * math.pi * variance))


def posterior(x: Tensor) -> tuple[Tensor, float]:
    """Mean and standard deviation of p(z | x)."""
    precision = 1 + A**2 / NOISE**2
    return A * x / NOISE**2 / precision, precision**-0.5


def run(
    x: Tensor, mean: Tensor, std: Tensor | float, samples: int | None = None, gradient: str = "pathwise"
) -> tuple[unknot.Trace, unknot.Trace]:
    """q = N(mean, std²) for each item, x of shape (B,)."""
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    z = q.normal(mean, torch.as_tensor(std, dtype=mean.dtype), name="z", gradient=gradient)
    z = p.normal(0.0, 1.0, value=q["z"], name="z")
    p.normal(A * z, NOISE, value=x, name="x")
    return q, p
