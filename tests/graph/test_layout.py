"""Places of nodes and plates: apart from one another, and in the direction of the arrows."""

from __future__ import annotations

import math
from itertools import combinations

from tests.graph.graph_programs import (
    circles,
    graphs,
)
from unknot.graph import Edge, GraphNode
from unknot.graph.layout import RADIUS, layout
from unknot.graph.routing import distance
from unknot.graph.structure import MODELS
from unknot.graph.svg import bundle


def test_nodes_do_not_overlap_and_plates_hold_only_their_own() -> None:
    for graph in graphs().values():
        for model in MODELS:
            nodes, edges = graph.part(model)
            shapes = layout(nodes, bundle(nodes, edges), circles(nodes), model == "recognition")
            for one, other in combinations(nodes, 2):
                a, b = shapes[one.name], shapes[other.name]
                assert math.hypot(a.x - b.x, a.y - b.y) > 2 * RADIUS + 10
            for plate, frame in shapes.items():
                for node in nodes:
                    center = (shapes[node.name].x, shapes[node.name].y)
                    if frame.plate:
                        assert (distance(center, frame) < -RADIUS) == (node.plate == plate)


def test_arrows_point_down_or_up_by_layers() -> None:
    nodes = [GraphNode(name, "latent", "Normal", ("generative",)) for name in "abcx"]
    edges = [Edge(s, t, "generative") for s, t in ["ab", "bx", "ax", "cx"]]
    for upward in (False, True):
        shapes = layout(nodes, edges, circles(nodes), upward)
        for edge in edges:
            assert (shapes[edge.target].y > shapes[edge.source].y) is not upward
        assert shapes["c"].y == shapes["b"].y  # a root stands next to its child
