"""Small programs whose graphs are known, written as a user would write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

import unknot
from unknot.graph import Graph, GraphNode
from unknot.graph.layout import RADIUS, Shape

B, PIXELS = 4, 6


def network(size: int, *inputs: Tensor) -> Tensor:
    """A fresh layer on some tensors."""
    joined = unknot.cat(list(inputs))
    return nn.Linear(joined.shape[-1], size)(joined)


def data() -> Tensor:
    return torch.rand(B, PIXELS, generator=torch.Generator().manual_seed(0))


class Encoder(nn.Module):
    """The class-and-style recognition model, q(y | x) q(z | x, y)."""

    def __init__(self) -> None:
        super().__init__()
        self.h = nn.Sequential(nn.Linear(PIXELS, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5))
        self.y_log_weights = nn.Linear(8, 10)
        self.z_mean = nn.Linear(18, 2)
        self.z_log_std = nn.Linear(18, 2)

    def z_std(self, h: Tensor) -> Tensor:
        return self.z_log_std(h).exp()

    def forward(self, x: Tensor, y_values: object = None) -> unknot.Trace:
        q = unknot.Trace()
        h = self.h(x)
        y = q.concrete(self.y_log_weights(h), 0.66, value=y_values, name="y")
        hy = torch.cat([h, y], -1)
        q.normal(self.z_mean(hy), self.z_std(hy), name="z")
        return q


class Decoder(nn.Module):
    """The class-and-style generative model, p(y) p(z) p(x | y, z)."""

    def __init__(self) -> None:
        super().__init__()
        self.y_log_weights = nn.Parameter(torch.zeros(10))
        self.h = nn.Sequential(nn.Linear(12, 8), nn.BatchNorm1d(8), nn.Tanh())
        self.x_mean = nn.Sequential(nn.Linear(8, PIXELS), nn.Sigmoid())

    def bce(self, mean: Tensor, x: Tensor) -> Tensor:
        return binary_cross_entropy(mean, x, reduction="none")

    def forward(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = p.concrete(self.y_log_weights, 0.66, value=q["y"], name="y")
        z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
        h = self.h(torch.cat([y, z], -1))
        x = p.loss(self.bce, self.x_mean(h), x, name="x")
        return p


def faces_encoder(x: Tensor, i: object = None, l: object = None) -> unknot.Trace:  # noqa: E741
    """q(r | x) q(i | x) q(l | x) q(s | i, l): S17 Fig. 5, left."""
    q = unknot.Trace()
    h = network(8, x).relu()
    identity = q.concrete(network(38, h), 0.66, value=i, name="i")
    lighting = q.normal(network(3, h), 1.0, value=l, name="l")
    q.normal(network(5, identity, lighting), 1.0, name="s")
    q.normal(network(5, h), 1.0, name="r")
    return q


def faces_decoder(x: Tensor, q: unknot.Trace) -> unknot.Trace:
    p = unknot.Trace()
    s = p.normal(torch.zeros(5), 1.0, value=q["s"], name="s")
    i = p.concrete(torch.zeros(38), 0.66, value=q["i"], name="i")
    l = p.normal(torch.zeros(3), 1.0, value=q["l"], name="l")  # noqa: E741
    r = p.normal(torch.zeros(5), 1.0, value=q["r"], name="r")
    p.normal(network(PIXELS, s, i, l, r), 1.0, value=x, name="x")
    return p


def digits_encoder(x: Tensor, K: object = None, *, feedback: bool = False) -> unknot.Trace:
    """Count, then for each digit where it is, its image, its class, its style: S17 Fig. 5, right."""
    q = unknot.Trace()
    count = q.categorical(logits=network(4, x), value=K, name="K")
    cell = nn.GRUCell(PIXELS + 3 if feedback else PIXELS, 8)
    h, a = torch.zeros(B, 8), torch.zeros(B, 3)
    for k in range(3):
        h = cell(torch.cat([x, a], -1) if feedback else x, h)
        with q.scope("digit", k), q.where(k < count):
            a = q.normal(network(3, h), 1.0, name="a")
            image = q.bernoulli(logits=network(PIXELS, a, x), gradient="plug_in", name="x")
            y = q.concrete(network(10, image), 0.66, name="y")
            q.normal(network(2, image, y), 1.0, name="z")
    return q


def digits_decoder(x: Tensor, q: unknot.Trace) -> unknot.Trace:
    p = unknot.Trace()
    count = p.categorical(logits=torch.zeros(4), value=q["K"], name="K")
    canvas = torch.zeros(B, PIXELS)
    for k in range(3):
        digit = q.under("digit", k)
        with p.scope("digit", k), p.where(k < count):
            y = p.concrete(torch.zeros(10), 0.66, value=digit["y"], name="y")
            z = p.normal(torch.zeros(2), 1.0, value=digit["z"], name="z")
            image = p.bernoulli(logits=network(PIXELS, y, z), value=digit["x"], name="x")
            a = p.normal(torch.zeros(3), 1.0, value=digit["a"], name="a")
        canvas = canvas + torch.where((k < count)[:, None], network(PIXELS, image, a), 0.0)
    p.normal(canvas, 1.0, value=x, name="x")
    return p


@cache
def graphs() -> dict[str, Graph]:
    torch.manual_seed(0)

    def feedback(x: Tensor) -> unknot.Trace:
        return digits_encoder(x, feedback=True)

    return {
        "class_and_style": unknot.graph(Encoder(), Decoder(), data()),
        "faces": unknot.graph(faces_encoder, faces_decoder, data()),
        "digits": unknot.graph(digits_encoder, digits_decoder, data()),
        "feedback": unknot.graph(feedback, digits_decoder, data()),
    }


def circles(nodes: list[GraphNode]) -> dict[str, Shape]:
    return {node.name: Shape(2 * RADIUS, 2 * RADIUS) for node in nodes}


def arrows(graph: Graph, model: str) -> set[str]:
    return {f"{edge.source} -> {edge.target}" for edge in graph.edges if edge.model == model}


def read(encoder: Callable[..., unknot.Trace], *args: Tensor) -> set[str]:
    """The recognition model of one program."""
    return arrows(unknot.graph(encoder, None, args or data()), "recognition")
