"""Graphs read from programs: the edges, exactly, for programs whose structure is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.graph.graph_programs import (
    B,
    Decoder,
    Encoder,
    data,
    digits_decoder,
    digits_encoder,
    faces_decoder,
    faces_encoder,
    network,
)
from unknot.graph import Graph

KNOWN = torch.tensor([True, False, False, True])


def arrows(graph: Graph, model: str) -> set[str]:
    return {f"{edge.source} -> {edge.target}" for edge in graph.edges if edge.model == model}


def read(encoder: Callable[..., unknot.Trace], *args: Tensor) -> set[str]:
    """The recognition model of one program."""
    return arrows(unknot.graph(encoder, None, args or data()), "recognition")


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


MASKS = {"K -> digit[k].a", "K -> digit[k].x", "K -> digit[k].y", "K -> digit[k].z"}
DIGITS = {
    *("x -> K", "x -> digit[k].a", "digit[k].a -> digit[k].x", "x -> digit[k].x"),
    *("digit[k].x -> digit[k].y", "digit[k].x -> digit[k].z", "digit[k].y -> digit[k].z"),
}


def test_multi_digit_loop_is_a_plate() -> None:
    graph = unknot.graph(digits_encoder, digits_decoder, data(), K=unknot.partial(torch.arange(B), KNOWN))
    inside = {"digit[k].y -> digit[k].x", "digit[k].z -> digit[k].x"}
    outside = {"digit[k].x -> x", "digit[k].a -> x", "K -> x"}
    assert arrows(graph, "generative") == MASKS | inside | outside
    assert arrows(graph, "recognition") == MASKS | DIGITS
    assert {n.name: n.plate for n in graph.nodes} == {
        **{f"digit[k].{name}": "digit[k]" for name in "axyz"},
        **{"K": None, "x": None},
    }
    assert graph["K"].kind == "partly observed"


def test_recurrent_state_that_sees_draws_gives_edges_between_turns() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        return digits_encoder(x, feedback=True)

    graph = unknot.graph(encoder, digits_decoder, data())
    assert arrows(graph, "recognition") == MASKS | DIGITS | {"digit[<k].a -> digit[k].a"}
    unrolled = unknot.graph(encoder, digits_decoder, data(), plates=False)
    between = {"digit[0].a -> digit[1].a", "digit[0].a -> digit[2].a", "digit[1].a -> digit[2].a"}
    assert between <= arrows(unrolled, "recognition")
    assert "digit[1].a -> digit[0].a" not in arrows(unrolled, "recognition")


def test_markov_chain_in_nested_loops() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        pose = torch.zeros(B, 2)
        for i in range(3):
            with q.scope("object", i):
                pose = q.normal(network(2, pose), 1.0, name="pose")
                part = torch.zeros(B, 2)
                for j in range(3):
                    with q.scope("part", j):
                        part = q.normal(network(2, part, pose), 1.0, name="m")
        return q

    assert read(encoder) == {
        "object[k-1].pose -> object[k].pose",
        "object[k].pose -> object[k].part[l].m",
        "object[k].part[l-1].m -> object[k].part[l].m",
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
        q.bernoulli(torch.full((B,), 0.5), name="c")
        return q

    graph = unknot.graph(encoder, None, data())
    assert arrows(graph, "recognition") == {"x -> a"}
    assert {node.name for node in graph.nodes} == {"a", "b", "c", "x"}


@pytest.mark.parametrize(
    ("family", "gradient"),
    [
        *[
            ("concrete", way)
            for way in ("concrete", "straight_through", "plug_in", "score_function", "enumerate")
        ],
        *[("one_hot", way) for way in ("straight_through", "plug_in", "score_function", "enumerate")],
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


def test_what_carries_no_gradient_still_counts() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        with torch.no_grad():
            y = q.normal(network(2, x), 1.0, name="y")
        q.normal(y.detach(), 1.0, name="z")
        q.normal((y > 0).float(), 1.0, name="w")
        return q

    assert read(encoder) == {"x -> y", "y -> z", "y -> w"}


def test_writes_in_place_and_views() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.normal(network(2, x), 1.0, name="y")
        h = torch.zeros(B, 2)
        h.add_(y)
        q.normal(h, 1.0, name="added")
        row = torch.zeros(B, 2)
        row[:, 0].copy_(y[:, 1])  # writes through a view
        q.normal(row, 1.0, name="sliced")
        h.zero_()
        q.normal(h, 1.0, name="erased")
        first, _ = y.t().contiguous().view(-1).split(B)
        q.normal(first, 1.0, name="split")
        return q

    assert read(encoder) == {"x -> y", "y -> added", "y -> sliced", "y -> split"}


def test_modules_with_memory_do_not_link_turns() -> None:
    normed = nn.BatchNorm1d(2)

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        for k in range(2):
            with q.scope("part", k):
                y = q.normal(network(2, x), 1.0, name="y")
                q.normal(normed(y), 1.0, name="z")
        return q

    assert read(encoder) == {"x -> part[k].y", "part[k].y -> part[k].z"}


@pytest.mark.parametrize("cell", [nn.GRU, nn.LSTM, nn.RNN])
def test_recurrent_networks(cell: type[nn.RNNBase]) -> None:
    network_ = cell(2, 4, batch_first=True)

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.normal(network(2, x), 1.0, name="y")
        states, _ = network_(y[:, None].expand(B, 3, 2))
        q.normal(states[:, -1], 1.0, name="z")
        return q

    assert read(encoder) == {"x -> y", "y -> z"}


def test_distributions_built_of_others() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        td = torch.distributions
        y = q.normal(network(2, x), 1.0, name="y")
        w = q.variable(td.Independent(td.LogNormal(y, 1.0), 1), name="w")
        shifted = td.transforms.AffineTransform(w, 1.0)
        q.variable(td.TransformedDistribution(td.Normal(torch.zeros(B, 2), 1.0), [shifted]), name="v")
        return q

    assert read(encoder) == {"x -> y", "y -> w", "w -> v"}
