"""S17's Eqs. 4, 8 and 9 for one item of a discrete model, by loops over draws or over all values."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from tests.references.discrete_model import DiscreteModel, Item


def equation_8(model: DiscreteModel, x: int, observed: Item, draws: list[Item], alpha: float) -> Tensor:
    """Eq. 8 as printed, with w_s the probability of the labels at draw s; Eq. 1 without labels."""
    weights = [model.log_q(x, draw, list(observed)).exp() for draw in draws]
    mean = sum(weights[1:], weights[0]) / len(draws)
    total = torch.zeros((), dtype=torch.float64)
    for weight, draw in zip(weights, draws, strict=True):
        ratio = model.log_p(x, draw) - model.log_q(x, draw, model.names)
        total = total + weight / mean * ratio + (1 + alpha) * weight.log()
    return total / len(draws)


def equation_7(model: DiscreteModel, x: int, observed: Item, draws: list[Item], alpha: float = 1.0) -> Tensor:
    """Eq. 7's bound on log q(y | x), times alpha: the mean over draws of the labels' log-probability."""
    total = torch.zeros((), dtype=torch.float64)
    for draw in draws:
        total = total + model.log_q(x, draw, list(observed))
    return alpha * total / len(draws)


def equation_9(model: DiscreteModel, x: int, observed: Item, draws: list[Item], alpha: float) -> Tensor:
    """Eq. 9: logarithms of means of p(x, y, z) / q(z | x), and of w."""
    free = [name for name in model.names if name not in observed]
    ratio = sum((model.log_p(x, d) - model.log_q(x, d, free)).exp() for d in draws) / len(draws)
    weight = sum(model.log_q(x, d, list(observed)).exp() for d in draws) / len(draws)
    return torch.as_tensor(ratio).log() + alpha * torch.as_tensor(weight).log()


def equation_4(model: DiscreteModel, x: int, observed: Item, alpha: float) -> Tensor:
    """Eq. 4 with its expectation and q(y | x) summed over all values."""
    everything = model.completions(observed)
    joint = torch.stack([model.log_q(x, item, model.names) for item in everything])
    log_label = joint.logsumexp(0)
    posterior = (joint - log_label).exp()
    ratio = torch.stack([model.log_p(x, item) for item in everything]) - joint
    return (posterior * ratio).sum() + (1 + alpha) * log_label


def equation_8_limit(model: DiscreteModel, x: int, observed: Item, alpha: float, summed: list[str]) -> Tensor:
    """What Eq. 8 tends to with many draws: Eq. 4 with Eq. 7's bound in place of log q(y | x).

    The variables in ``summed`` are summed inside the bound's logarithm, the other ones outside it. Variables
    after the last label play no part in the bound.
    """
    last = max((model.names.index(name) for name in observed), default=-1)
    before = model.names[: last + 1]
    free = [name for name in before if name not in observed]
    groups: dict[tuple[int, ...], list[Item]] = {}
    for item in model.completions(observed):
        if all(item[name] == 0 for name in model.names[last + 1 :]):
            groups.setdefault(tuple(item[n] for n in free if n not in summed), []).append(item)
    bound = torch.zeros((), dtype=torch.float64)
    for items in groups.values():
        drawn = torch.stack([model.log_q(x, item, free) for item in items]).logsumexp(0)
        labels = torch.stack([model.log_q(x, item, before) for item in items]).logsumexp(0) - drawn
        bound = bound + drawn.exp() * labels
    exact = equation_4(model, x, observed, alpha=-1.0)
    return exact + (1 + alpha) * bound


def log_evidence(model: DiscreteModel, x: int, observed: Item) -> Tensor:
    """log p(x, y)."""
    return torch.stack([model.log_p(x, item) for item in model.completions(observed)]).logsumexp(0)


def expected_over_draws(equation, model: DiscreteModel, x: int, observed: Item, samples: int, alpha: float):
    """The expectation of an S-draw estimator, over every S-tuple of draws: what its gradient is the gradient of."""
    free = [name for name in model.names if name not in observed]
    total = torch.zeros((), dtype=torch.float64)
    for draws in itertools.product(model.completions(observed), repeat=samples):
        log_probability = torch.stack([model.log_q(x, draw, free) for draw in draws]).sum()
        total = total + log_probability.exp() * equation(model, x, observed, list(draws), alpha)
    return total
