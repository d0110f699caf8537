"""class-scorings: how a Concrete class is scored, and the gradient that its divergence then has (E19 sec. 5.3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from unknot.core.relaxed import ArgmaxConcrete, Concrete

ITEMS, CLASSES, TEMPERATURE, DRAWS = 64, 10, 0.66, 20_000
Divergence = Callable[[Tensor], Tensor]  # logits (B, K) -> a sample of log q - log p, (B,)


def by_density(logits: Tensor) -> Tensor:
    """Return log q(u) - log p(u) of a draw u: E19 Eq. 4 with Concrete distributions."""
    q, p = Concrete(logits, TEMPERATURE), Concrete(torch.zeros_like(logits), TEMPERATURE)
    u = q.sample_unbounded(torch.Size(), 1)
    return q.log_density(u) - p.log_density(u)


def by_argmax(logits: Tensor) -> Tensor:
    """Return log q - log p at the largest entry of a draw: the authors' code."""
    q, p = ArgmaxConcrete(logits, TEMPERATURE), ArgmaxConcrete(torch.zeros_like(logits), TEMPERATURE)
    y = q.rsample()
    return q.log_mass(y) - p.log_mass(y)


def exact(logits: Tensor) -> Tensor:
    """Return KL(q || p) of the discrete classes."""
    log_q = logits.log_softmax(-1)
    return (log_q.exp() * (log_q + torch.tensor(float(CLASSES)).log())).sum(-1)


SCORINGS: dict[str, Divergence] = {
    "relaxed densities (Eq. 4)": by_density,
    "mass of the largest entry (the authors' code)": by_argmax,
    "exact, summed over the classes": exact,
}


def cases(tier: Tier) -> list[Case]:
    """Return the three scorings."""
    draws = 20 if tier == "smoke" else DRAWS
    return [{"row": row, "scoring": row, "draws": draws} for row in SCORINGS]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return the mean divergence of random classes from a uniform prior, and its mean gradient for the logits.

    The squared norm of the mean gradient is estimated without bias by the product of two halves of the draws.
    """
    divergence, half = SCORINGS[settings["scoring"]], settings["draws"] // 2
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        logits = torch.randn(ITEMS, CLASSES)
        values, halves, squares = 0.0, [torch.zeros_like(logits), torch.zeros_like(logits)], 0.0
        for i in range(2 * half):
            parameter = logits.clone().requires_grad_()
            value = divergence(parameter).mean()
            (gradient,) = torch.autograd.grad(value, parameter)
            values += float(value.detach()) / (2 * half)
            halves[i % 2] += gradient / half
            squares += float(gradient.square().sum()) / (2 * half)
    norm = max(float((halves[0] * halves[1]).sum()), 0.0) ** 0.5
    return {"divergence": values, "gradient": norm, "draw": squares**0.5}


EXPERIMENT = Experiment(
    name="class-scorings",
    place="E19 sec. 5.3",
    about="Three ways to score a Concrete class: its divergence from a uniform prior, and the gradient of that.",
    cases=cases,
    run=run,
    measures=(
        Measure("gradient", "norm of the mean gradient", decimals=4),
        Measure("draw", "root mean square norm of one draw's gradient", decimals=3),
        Measure("divergence", "divergence", "nats"),
    ),
    budgets={"smoke": "seconds", "quick": "half a CPU minute a row and seed"},
)
