"""A training step of the M2 model with its label enumerated, beside the same step written by hand.

784-256 networks, a batch of 128 items of which half know their label, K = 10 classes, one draw of the style
for each. A step is forward, backward and Adam. Traced and hand-written steps alternate; medians are compared.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot, softplus

import unknot
from benchmarks.in_turns import ratio_rows, training_step
from unknot.objectives import semi_supervised

BATCH, PIXELS, HIDDEN, CLASSES, STYLE = 128, 784, 256, 10, 10
ALPHA, GOAL = 50.0, 1.15


class ClassAndStyle(nn.Module):
    """Networks of q(y | x) q(z | x, y) and p(y) p(z) p(x | y, z)."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.ReLU())
        self.label = nn.Linear(HIDDEN, CLASSES)
        self.mean = nn.Linear(HIDDEN + CLASSES, STYLE)
        self.scale = nn.Linear(HIDDEN + CLASSES, STYLE)
        self.decoder = nn.Sequential(nn.Linear(CLASSES + STYLE, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, PIXELS))

    def traced(self, x: Tensor, labels: Tensor) -> Tensor:
        q, p = unknot.Trace(), unknot.Trace()
        h = self.hidden(x)
        known = unknot.partial(labels)
        y = q.concrete(self.label(h), 0.66, value=known, name="y", gradient="enumerate")
        hy = unknot.cat([h, y], -1)
        q.normal(self.mean(hy), softplus(self.scale(hy)) + 1e-3, name="z")
        y = p.concrete(torch.zeros(CLASSES), 0.66, value=q["y"], name="y")
        z = p.normal(0.0, 1.0, value=q["z"], name="z")
        p.bernoulli(logits=self.decoder(unknot.cat([y, z], -1)), value=x, name="x")
        return semi_supervised(q, p, alpha=ALPHA).loss

    def by_hand(self, x: Tensor, labels: Tensor) -> Tensor:
        """Sum over the classes with weight q(y | x), or one on the label; K times the networks, as M2 needs."""
        h = self.hidden(x)
        log_q = self.label(h).log_softmax(-1).T  # (K, B)
        y = torch.eye(CLASSES)[:, None].expand(-1, BATCH, -1)  # (K, B, K)
        hy = torch.cat([h.expand(CLASSES, -1, -1), y], -1)
        mean, scale = self.mean(hy), softplus(self.scale(hy)) + 1e-3
        z = mean + scale * torch.randn_like(mean)
        logits = self.decoder(torch.cat([y, z], -1))  # (K, B, 784)
        log_x = -binary_cross_entropy_with_logits(logits, x.expand(CLASSES, -1, -1), reduction="none").sum(-1)
        log_z = (-0.5 * z**2 + 0.5 * ((z - mean) / scale) ** 2 + scale.log()).sum(-1)
        bound = log_x + log_z - math.log(CLASSES)
        known = labels >= 0
        label = one_hot(labels.clamp_min(0), CLASSES).T.to(x.dtype)
        unlabeled = (log_q.exp() * (bound - log_q)).sum(0)
        labeled = (label * (bound + ALPHA * log_q)).sum(0)
        return -torch.where(known, labeled, unlabeled).mean()


def run() -> list[dict[str, Any]]:
    """The time of the traced step as a ratio to the hand-written one."""
    torch.manual_seed(0)
    x = torch.rand(BATCH, PIXELS)
    labels = torch.where(torch.arange(BATCH) % 2 == 0, torch.randint(0, CLASSES, (BATCH,)), -1)
    ours, theirs = ClassAndStyle(), ClassAndStyle()
    steps = training_step(ours, ours.traced, x, labels), training_step(theirs, theirs.by_hand, x, labels)
    with unknot.validation(False):
        return ratio_rows(f"enumerated M2 step, K={CLASSES}, B={BATCH}", ("traced", "by hand"), steps, GOAL)
