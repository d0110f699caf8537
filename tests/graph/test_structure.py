"""A graph's nodes, edges and parts."""

from __future__ import annotations

import pytest

import unknot
from tests.graph.graph_programs import Decoder, Encoder, data
from unknot.errors import TraceError
from unknot.graph.structure import Edge, Graph, GraphNode, Model, same_turn


def test_missing_nodes_are_named() -> None:
    with pytest.raises(TraceError, match="no node 'w'; it has: y, z, x"):
        unknot.graph(Encoder(), Decoder(), data())["w"]


def chain() -> Graph:
    both: tuple[Model, ...] = ("generative", "recognition")
    nodes = [
        GraphNode("a", "latent", "Normal", both),
        GraphNode("x", "observed", "Normal", both),
        GraphNode("w", "latent", "Normal", ("recognition",)),
    ]
    edges = [Edge("a", "x", "generative"), Edge("x", "a", "recognition"), Edge("a", "w", "recognition")]
    return Graph(nodes, edges)


def test_parts_and_parents_are_those_of_one_model() -> None:
    graph = chain()
    nodes, edges = graph.part("generative")
    assert [node.name for node in nodes] == ["a", "x"]
    assert edges == [("a", "x", "generative")]
    assert graph.parents("a", "recognition") == ["x"]
    assert graph.parents("a", "generative") == []


def test_text_lists_the_edges_by_model() -> None:
    assert str(chain()).splitlines() == [
        *("generative:", "  a -> x"),
        *("recognition:", "  x -> a", "  a -> w"),
    ]


@pytest.mark.parametrize(
    ("end", "node"),
    [("digit[<k].a", "digit[k].a"), ("object[k+1].part[l].m", "object[k].part[l].m"), ("x", "x")],
)
def test_an_end_in_another_turn_belongs_to_the_same_node(end: str, node: str) -> None:
    assert same_turn(end) == node
