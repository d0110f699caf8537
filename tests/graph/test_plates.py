"""Loops in indexed scopes become plates, and edges between turns say which turns."""

from __future__ import annotations

import torch
from torch import Tensor

import unknot
from tests.graph.graph_programs import (
    B,
    arrows,
    data,
    digits_decoder,
    digits_encoder,
    network,
    read,
)

KNOWN = torch.tensor([True, False, False, True])


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
