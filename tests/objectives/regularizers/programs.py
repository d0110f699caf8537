"""Models and batches for tests of regularizers: a described one, and the same as a user writes it."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from unknot import Trace, partial
from unknot.core.program import Program, as_program
from unknot.data import load
from unknot.data.batch import Batch
from unknot.data.label_budget import LabelBudget
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives.regularizers import Regularizers

NODES = {
    "digit": {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
    "style": {"family": "normal", "size": 3, "inferred_from": ["x", "digit"]},
    "x": {"family": "bernoulli", "parents": ["digit", "style"]},
}


def model_for(kind: str = "concrete", nodes: dict | None = None, **settings: object) -> GraphicalModel:  # type: ignore[type-arg]
    """A small model of images with weights of its own, some predictions more confident than others."""
    nodes = {**NODES, "digit": {**NODES["digit"], "family": kind}} if nodes is None else nodes
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": nodes, **settings}, (1, 8, 8))
    with torch.no_grad():
        last = [part for part in model.recognition["digit"].modules() if isinstance(part, nn.Linear)][-1]
        last.weight.mul_(20.0)
    return model


def batch_of_digits(labels: int = 700) -> Batch:
    """Forty digits, some of them labeled."""
    data = load("digits").split("train")
    return LabelBudget.draw(data, 0, digit=labels).apply(data).batch(range(40))


def without_dropout(model: nn.Module) -> nn.Module:
    """Set all dropout to zero, so that the same features come twice."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


def regularized(
    model: Program, batch: Batch, samples: int | None = None, **regularizers: object
) -> tuple[Trace, Trace]:
    """The traces of a batch with the penalties of regularizers, and the augmented view that they looked at."""
    chosen = Regularizers(regularizers)
    if chosen.needs_second_view:
        batch = replace(batch, second_view=model.augment(batch.x, scored=False))
    q, p = model(batch) if samples is None else model(batch, samples)
    chosen.add_to(model, batch, q, p)
    return q, p


class HandWritten(nn.Module):
    """A digit and a style, as a user writes them: no method but encode and decode, and an augmentation."""

    def __init__(self) -> None:
        super().__init__()
        self.of_digit, self.of_style = nn.Linear(64, 10), nn.Linear(74, 2)
        self.decoder = nn.Linear(12, 64)

    def encode(self, x: Tensor, labels: dict[str, Tensor] | None = None, samples: int | None = None) -> Trace:
        q = Trace(samples)
        known = partial(labels["digit"]) if labels else None
        features = x.flatten(1)
        digit = q.concrete(self.of_digit(features), 0.66, value=known, name="digit")
        inputs = torch.cat([features.expand(*digit.shape[:-1], 64), digit], -1)
        q.normal(self.of_style(inputs), 1.0, name="style")
        return q

    def decode(self, x: Tensor | None, q: Trace) -> Trace:
        p = Trace()
        digit = p.concrete(torch.zeros(10), 0.66, value=q["digit"], name="digit")
        style = p.normal(torch.zeros(2), 1.0, value=q["style"], name="style")
        logits = self.decoder(torch.cat([digit, style], -1))
        p.bernoulli(logits=logits, value=None if x is None else x.flatten(1), name="x")
        return p

    def expected_data(self, q: Trace) -> Tensor:
        return self.decoder(torch.cat([q["digit"], q["style"]], -1)).sigmoid().reshape(-1, 1, 8, 8)

    def augment(self, x: Tensor, scored: bool) -> Tensor:
        return x + 0.1 * torch.randn_like(x)


def hand_written() -> Program:
    """The hand-written program with all methods of a program."""
    torch.manual_seed(0)
    return as_program(HandWritten())
