"""Small programs that the training tests train: class and style, an MLP on the embedded digits."""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

import unknot
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.data.sets.computed import load_digits
from unknot.objectives.terms import Terms


class ClassAndStyle(nn.Module):
    """A digit y (Concrete, partly observed) and a style z, both from an MLP; and back.

    The style is recognized from x and y, or with ``independent`` from x alone.
    """

    temperature: Tensor

    def __init__(
        self, pixels: int = 64, hidden: int = 32, style: int = 4, classes: int = 10, independent: bool = False
    ) -> None:
        super().__init__()
        self.independent = independent
        self.h = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.y = nn.Linear(hidden, classes)
        seen = hidden if independent else hidden + classes
        self.mean, self.scale = nn.Linear(seen, style), nn.Linear(seen, style)
        self.x = nn.Sequential(nn.Linear(classes + style, hidden), nn.ReLU(), nn.Linear(hidden, pixels))
        self.register_buffer("temperature", torch.tensor(0.66))

    def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
        pixels = batch.x.flatten(1)
        q, p = unknot.Trace(), unknot.Trace()
        h = self.h(pixels)
        labels = unknot.partial(batch["digit"], batch.known["digit"])
        y = q.concrete(self.y(h), self.temperature, value=labels, name="y")
        hy = h if self.independent else unknot.cat([h, y], -1)
        z = q.normal(self.mean(hy), softplus(self.scale(hy)) + 1e-3, name="z")

        y = p.concrete(torch.zeros_like(self.y.bias), self.temperature, value=q["y"], name="y")
        z = p.normal(0.0, 1.0, value=q["z"], name="z")
        p.loss(_bce, self.x(unknot.cat([y, z], -1)), pixels, name="x")
        return q, p


def _bce(logits: Tensor, x: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(logits, x, reduction="none")


def plain_elbo(q: unknot.Trace, p: unknot.Trace, beta: float = 1.0) -> Terms:
    """ELBO plus the log-mass of known digits: enough of an objective to train with."""
    known = q["y"].known
    divergence = p.log_prob("y", "z") - q["z"].log_prob - torch.where(known, 0.0, q["y"].log_prob)
    supervision = torch.where(known, q["y"].log_prob, 0.0)
    terms = {"reconstruction": p["x"].log_prob, "divergence": divergence, "supervision": supervision}
    return Terms(terms, {"divergence": beta, "supervision": 5.0})


@functools.cache
def digits(labels: int = 100, items: int | None = None) -> Dataset:
    """The digits' training items, of which some show their label."""
    train = load_digits().split("train")
    data = LabelBudget.draw(train, 0, digit=labels).apply(train)
    return data if items is None else data.subset(range(items))


def model(seed: int = 0, **sizes: int) -> ClassAndStyle:
    """A model with fixed initial weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return ClassAndStyle(**sizes)
