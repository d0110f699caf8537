"""Log-probability per item by loops over items and elements, written out from the textbook formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

Elements = Callable[..., float]


def normal(value: float, loc: float, scale: float) -> float:
    return -((value - loc) ** 2) / (2 * scale**2) - math.log(scale) - 0.5 * math.log(2 * math.pi)


def bernoulli(value: float, logits: float) -> float:
    p = 1 / (1 + math.exp(-logits))
    return value * math.log(p) + (1 - value) * math.log(1 - p)


def poisson(value: float, rate: float) -> float:
    return value * math.log(rate) - rate - math.lgamma(value + 1)


def softmax(logits: list[float]) -> list[float]:
    weights = [math.exp(logit) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def categorical(value: float, logits: list[float]) -> float:
    return math.log(softmax(logits)[int(value)])


def concrete_mass(value: list[float], logits: list[float]) -> float:
    return sum(y * math.log(p) for y, p in zip(value, softmax(logits), strict=True))


def concrete_density(unbounded: list[float], logits: list[float], temperature: float) -> float:
    """Density of u = log y: Γ(K) τ^(K-1) Π_k (π_k y_k^-τ) / (Σ_i π_i y_i^-τ)^K."""
    classes = len(logits)
    terms = [
        p * math.exp(-temperature * u) for p, u in zip(softmax(logits), unbounded, strict=True)
    ]  # π_k y_k^-τ
    product_of_terms = sum(math.log(term) for term in terms)
    return (
        math.lgamma(classes)
        + (classes - 1) * math.log(temperature)
        + product_of_terms
        - classes * math.log(sum(terms))
    )


def dirichlet(value: list[float], concentration: list[float]) -> float:
    total = math.lgamma(sum(concentration)) - sum(math.lgamma(c) for c in concentration)
    return total + sum((c - 1) * math.log(v) for c, v in zip(concentration, value, strict=True))


def multivariate_normal(value: list[float], loc: list[float], covariance: list[list[float]]) -> float:
    matrix = torch.tensor(covariance, dtype=torch.float64)
    off = torch.tensor(value, dtype=torch.float64) - torch.tensor(loc, dtype=torch.float64)
    quadratic = off @ torch.linalg.inv(matrix) @ off
    return float(-0.5 * (quadratic + torch.logdet(matrix) + len(value) * math.log(2 * math.pi)))


def per_item(
    formula: Elements,
    value: Tensor,
    parameters: dict[str, tuple[Tensor, int]],
    leading: tuple[int, ...],
    event: tuple[int, ...],
) -> Tensor:
    """``formula`` summed over the elements of each item, shape ``leading``.

    ``event`` is the shape of the elements of one item; each parameter comes with the number of trailing axes
    that belong to a single element (0 for a Normal's mean, 1 for logits, 2 for a covariance). The value has
    as many as its formula's first parameter allows: one for vectors, none for numbers.
    """
    vector = formula in (concrete_mass, concrete_density, dirichlet, multivariate_normal)
    values = _aligned(value, leading + event, int(vector))
    aligned = {name: _aligned(tensor, leading + event, own) for name, (tensor, own) in parameters.items()}
    result = torch.zeros(leading, dtype=torch.float64)
    for item in product(*map(range, leading)):
        for element in product(*map(range, event)):
            at = item + element
            result[item] += formula(values[at].tolist(), **{n: t[at].tolist() for n, t in aligned.items()})
    return result


def _aligned(tensor: Tensor, shape: tuple[int, ...], own: int) -> Tensor:
    tensor = tensor.detach().double()
    return tensor.expand(*shape, *tensor.shape[tensor.ndim - own :])
