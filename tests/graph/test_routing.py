"""Arrows end at borders and keep clear of what is not theirs."""

from __future__ import annotations

from tests.graph.graph_programs import (
    circles,
    graphs,
)
from unknot.graph.layout import layout
from unknot.graph.routing import distance, obstacles, route
from unknot.graph.structure import MODELS
from unknot.graph.svg import bundle


def test_arrows_end_at_borders_and_keep_clear_of_other_nodes() -> None:
    for graph in graphs().values():
        for model in MODELS:
            nodes, edges = graph.part(model)
            arrows = [e for e in bundle(nodes, edges) if "<" not in e.source]
            shapes = layout(nodes, arrows, circles(nodes), model == "recognition")
            curves = route([(e.source, e.target) for e in arrows], shapes)
            for edge, curve in zip(arrows, curves, strict=True):
                assert 0 <= distance(curve.start, shapes[edge.source]) < 4
                assert 0 <= distance(curve.end, shapes[edge.target]) < 4
                for shape in obstacles(edge.source, edge.target, shapes):
                    if not shape.plate:
                        assert min(distance(curve.at(t / 100), shape) for t in range(101)) > 3
