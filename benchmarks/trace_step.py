"""A semi-supervised step with traces against the same step written by hand.

Encoder 784-256, y Concrete(10), z Normal(10), decoder back; B = 128, half of the items labeled; forward, backward
and fused Adam. Both compute the same number from the same seed. Their steps alternate, so that both see the same
machine, and medians are compared.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot, softplus

import unknot
from benchmarks.in_turns import medians, training_step
from benchmarks.row import row
from unknot.core.expectation import expect

BATCH, PIXELS, HIDDEN, CLASSES, STYLE, TAU, ALPHA = 128, 784, 256, 10, 10, 0.66, 50.0
EAGER_GOAL, COMPILED_GOAL, SAMPLES_GOAL = 1.10, 0.85, 1.10
CHECKED_GOAL, CHECKS_GOAL = 1.05, 1.03  # with validation on: over hand-written, and over validation off


class Networks(nn.Module):
    """The networks that both versions share."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.ReLU())
        self.y = nn.Linear(HIDDEN, CLASSES)
        self.mean, self.scale = nn.Linear(HIDDEN + CLASSES, STYLE), nn.Linear(HIDDEN + CLASSES, STYLE)
        self.back = nn.Sequential(nn.Linear(CLASSES + STYLE, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, PIXELS))
        self.prior = nn.Parameter(torch.zeros(CLASSES))


def traced(nets: Networks, x: Tensor, labels: Tensor, known: Tensor, samples: int | None) -> Tensor:
    """The loss with traces: minus the bound and α times the labels' log-probability."""
    q, p = unknot.Trace(samples), unknot.Trace()
    h = nets.h(x)
    y = q.concrete(nets.y(h), TAU, value=unknot.partial(labels, known), name="y")
    hy = unknot.cat([h, y], -1)
    q.normal(nets.mean(hy), softplus(nets.scale(hy)) + 1e-3, name="z")
    y = p.concrete(nets.prior, TAU, value=q["y"], name="y")
    z = p.normal(0.0, 1.0, value=q["z"], name="z")
    p.bernoulli(logits=nets.back(unknot.cat([y, z], -1)), value=x, name="x")
    classifier = torch.where(known, q["y"].log_prob, 0.0)
    return -expect(q, p.log_prob() - q.log_prob() + (1 + ALPHA) * classifier).mean()


def checked(nets: Networks, x: Tensor, labels: Tensor, known: Tensor, samples: int | None) -> Tensor:
    """The loss with traces and validation on."""
    with unknot.validation(True):
        return traced(nets, x, labels, known, samples)


def by_hand(nets: Networks, x: Tensor, labels: Tensor, known: Tensor, samples: int | None) -> Tensor:
    """The same loss in plain PyTorch; the trunk runs once."""
    h = nets.h(x)
    logits = nets.y(h)
    shape = logits.shape if samples is None else (samples, *logits.shape)
    gumbel = -torch.empty(shape).exponential_().log()
    log_y = ((logits + gumbel) / TAU).log_softmax(-1)
    y = torch.where(known[:, None], one_hot(labels.clamp_min(0), CLASSES).float(), log_y.exp())
    hy = torch.cat([h if samples is None else h.expand(samples, *h.shape), y], -1)
    mean, scale = nets.mean(hy), softplus(nets.scale(hy)) + 1e-3
    z = mean + scale * torch.randn_like(mean)
    x_logits = nets.back(torch.cat([y, z], -1))
    pixels = x if samples is None else x.expand(samples, *x.shape)
    log_x = -binary_cross_entropy_with_logits(x_logits, pixels, reduction="none").sum(-1)
    constant = math.lgamma(CLASSES) + (CLASSES - 1) * math.log(TAU)

    def score_y(weights: Tensor) -> Tensor:
        mass = (y * weights.log_softmax(-1)).sum(-1)
        return torch.where(known, mass, (weights - TAU * log_y).log_softmax(-1).sum(-1) + constant)

    log_q_y, log_p_y = score_y(logits), score_y(nets.prior)
    half_log_tau = 0.5 * math.log(2 * math.pi)
    log_q_z = (-0.5 * ((z - mean) / scale) ** 2 - scale.log() - half_log_tau).sum(-1)
    log_p_z = (-0.5 * z**2 - half_log_tau).sum(-1)
    bound = log_x + log_p_y + log_p_z - log_q_y - log_q_z
    total = bound + (1 + ALPHA) * torch.where(known, log_q_y, 0.0)
    return -total.mean()


Loss = Callable[..., Tensor]  # of networks, pixels, labels, which are known, and samples


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Pixels, labels and which of them are known."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(BATCH, PIXELS, generator=generator)
    labels = torch.randint(0, CLASSES, (BATCH,), generator=generator)
    return x, labels, torch.arange(BATCH) < BATCH // 2


def ratios(losses: dict[str, Loss], samples: int | None, rounds: int) -> dict[str, float]:
    """Median step time of each loss over that of ``by hand``, from alternating steps."""
    steps = []
    for loss in losses.values():
        torch.manual_seed(1)
        nets = Networks()
        steps.append(training_step(nets, partial(loss, nets, samples=samples), *batch()))
    found = dict(zip(losses, medians(steps, rounds, warm=3), strict=True))
    return {name: median / found["by hand"] for name, median in found.items()}


def run() -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``."""
    with unknot.validation(False):
        losses: dict[str, Loss] = {"by hand": by_hand, "traced": traced, "checked": checked}
        if shutil.which("g++"):
            losses["compiled"] = torch.compile(traced, fullgraph=True)
        one = ratios(losses, None, rounds=300)
        many = ratios({"by hand": by_hand, "traced": traced}, 64, rounds=25)
    rows = [
        ("step with traces, S=1, over hand-written", one["traced"], EAGER_GOAL),
        ("step with traces and validation, S=1, over hand-written", one["checked"], CHECKED_GOAL),
        ("step with traces, validation on over off", one["checked"] / one["traced"], CHECKS_GOAL),
    ]
    if "compiled" in one:
        rows.append(
            ("compiled step with traces, S=1, over hand-written eager", one["compiled"], COMPILED_GOAL)
        )
    rows.append(("step with traces, S=64, over hand-written", many["traced"], SAMPLES_GOAL))
    return [row(name, value, "x", goal) for name, value, goal in rows]
