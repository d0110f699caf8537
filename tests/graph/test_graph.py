"""Graphs read from programs: the edges, exactly, for programs whose structure is known."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.graph.graph_programs import (
    B,
    Decoder,
    Encoder,
    arrows,
    data,
    faces_decoder,
    faces_encoder,
    network,
    read,
)
from unknot.errors import TraceError

KNOWN = torch.tensor([True, False, False, True])


def test_class_and_style() -> None:
    graph = unknot.graph(Encoder(), Decoder(), data(), y_values=unknot.partial(torch.arange(B), KNOWN))
    assert arrows(graph, "generative") == {"y -> x", "z -> x"}
    assert arrows(graph, "recognition") == {"x -> y", "x -> z", "y -> z"}
    assert {n.name: (n.kind, n.family) for n in graph.nodes} == {
        "y": ("partly observed", "Concrete"),
        "z": ("latent", "Normal"),
        "x": ("observed", "Loss"),
    }


def test_faces() -> None:
    labels = {
        "i": unknot.partial(torch.arange(B), KNOWN),
        "l": unknot.partial(torch.ones(B, 3), KNOWN),
    }
    graph = unknot.graph(faces_encoder, faces_decoder, {"x": data(), **labels})
    assert arrows(graph, "generative") == {"s -> x", "i -> x", "l -> x", "r -> x"}
    assert arrows(graph, "recognition") == {"x -> r", "x -> i", "x -> l", "i -> s", "l -> s"}
    kinds = {node.name: node.kind for node in graph.nodes}
    assert kinds == {
        **dict.fromkeys("sr", "latent"),
        **dict.fromkeys("il", "partly observed"),
        "x": "observed",
    }


def test_chain() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        z1 = q.normal(network(2, x), 1.0, name="z1")
        y1 = q.normal(network(2, z1), 1.0, name="y1")
        q.normal(network(2, y1), 1.0, name="z2")
        return q

    assert read(encoder) == {"x -> z1", "z1 -> y1", "y1 -> z2"}


def test_independent_variables_have_no_edge() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(network(2, x[:, :3]), 1.0, name="a")
        q.normal(torch.zeros_like(x), torch.ones_like(x), name="b")  # takes only the shape of x
        q.bernoulli(torch.full((B,), 0.5), name="c", event_dims=0)
        return q

    graph = unknot.graph(encoder, None, data())
    assert arrows(graph, "recognition") == {"x -> a"}
    assert {node.name for node in graph.nodes} == {"a", "b", "c", "x"}


@pytest.mark.parametrize(
    ("family", "gradient"),
    [
        *[
            ("concrete", way)
            for way in ("concrete", "straight_through", "plug_in", "score_function", "enumerate", "detached")
        ],
        *[
            ("one_hot", way)
            for way in ("straight_through", "plug_in", "score_function", "enumerate", "detached")
        ],
    ],
)
@pytest.mark.parametrize("samples", [None, 3])
def test_every_way_to_draw(family: str, gradient: str, samples: int | None) -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace(samples)
        logits = network(3, x)
        if family == "concrete":
            y = q.concrete(logits, 0.66, gradient=gradient, name="y")
        else:
            y = q.one_hot_categorical(logits=logits, gradient=gradient, name="y")
        q.normal(network(2, y), 1.0, name="z")
        return q

    assert read(encoder) == {"x -> y", "y -> z"}


@pytest.mark.parametrize("gradient", ["score_function", "enumerate"])
def test_lookups_by_a_discrete_draw(gradient: str) -> None:
    table = nn.Embedding(5, 2)

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.categorical(logits=network(5, x), gradient=gradient, name="y")
        q.normal(table(y), 1.0, name="embedded")
        q.normal(torch.zeros(5, 2)[y], 1.0, name="indexed")
        q.normal(torch.zeros(B, 5).gather(-1, y.reshape(-1, 1)[:B]), 1.0, name="gathered")
        return q

    assert read(encoder) == {"x -> y", "y -> embedded", "y -> indexed", "y -> gathered"}


def test_traces_are_not_programs() -> None:
    with pytest.raises(TraceError, match="reads programs, but got a Trace"):
        unknot.graph(unknot.Trace(), None)  # type: ignore[arg-type]
    with pytest.raises(TraceError, match="an encoder, a decoder or both"):
        unknot.graph(None, None)
    with pytest.raises(TraceError, match="the encoder returned a Tensor"):
        unknot.graph(lambda x: x, None, data())
