"""Pictures of graphs: well-formed, complete, and with arrows that keep clear of other nodes."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import pytest
import torch
from torch import Tensor

import unknot
from tests.graph.graph_programs import (
    Decoder,
    Encoder,
    data,
    digits_decoder,
    digits_encoder,
    faces_decoder,
    faces_encoder,
    network,
)
from unknot.graph import Edge, Graph, GraphNode
from unknot.graph.layout import RADIUS, Shape, layout
from unknot.graph.routing import distance, obstacles, route
from unknot.graph.structure import MODELS
from unknot.graph.svg import bundle

NAMESPACE = "{http://www.w3.org/2000/svg}"


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


@pytest.mark.parametrize("name", ["class_and_style", "faces", "digits", "feedback"])
def test_svg_shows_every_node_in_both_models(name: str) -> None:
    graph = graphs()[name]
    root = ElementTree.fromstring(graph.svg())
    assert root.tag == f"{NAMESPACE}svg"
    titles = [element.text for element in root.iter(f"{NAMESPACE}title")]
    wanted = [f"{n.name}: {n.family}, {n.kind}" for m in MODELS for n in graph.part(m)[0]]
    assert sorted(str(title) for title in titles) == sorted(wanted)
    texts = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert {"Generative model", "Recognition model"} <= set(texts)
    heads = list(root.iter(f"{NAMESPACE}polygon"))
    assert len(heads) == sum(len(bundle(*graph.part(model))) for model in MODELS)
    assert graph._repr_svg_() == graph.svg()


def test_only_recognition_arrows_are_dashed() -> None:
    root = ElementTree.fromstring(graphs()["faces"].svg())
    dashed = {
        p.get("stroke"): p.get("stroke-dasharray") for p in root.iter(f"{NAMESPACE}path") if p.get("stroke")
    }
    assert dashed == {"#1f5fa8": None, "#d9731a": "6 4"}


def test_names_are_escaped() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        with q.scope("a<b>", 0):
            y = q.normal(network(2, x), 1.0, name='<"y"&>')
            q.normal(network(2, y), 1.0, name="\\z")
        return q

    graph = unknot.graph(encoder, None, data())
    root = ElementTree.fromstring(graph.svg())
    titles = [element.text for element in root.iter(f"{NAMESPACE}title")]
    assert 'a<b>[k].<"y"&>: Normal, latent' in titles
    assert '"r a<b>[k].<\\"y\\"&>" -> "r a<b>[k].\\\\z";' in graph.dot()


def test_dot_text() -> None:
    text = graphs()["digits"].dot()
    assert text.count("{") == text.count("}") == 5  # the whole, two models, a plate in each
    assert '"g digit[k].y" -> "g digit[k].x";' in text
    assert '"r digit[k].x" -> "r digit[k].y";' in text
    assert '"g x" [label="x", style="filled"' in text
    assert '[label="digit[<k].a"]' in graphs()["feedback"].dot()


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
                    centre = (shapes[node.name].x, shapes[node.name].y)
                    if frame.plate:
                        assert (distance(centre, frame) < -RADIUS) == (node.plate == plate)


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


def circles(nodes: list[GraphNode]) -> dict[str, Shape]:
    return {node.name: Shape(2 * RADIUS, 2 * RADIUS) for node in nodes}


def test_arrows_point_down_or_up_by_layers() -> None:
    nodes = [GraphNode(name, "latent", "Normal", ("generative",)) for name in "abcx"]
    edges = [Edge(s, t, "generative") for s, t in ["ab", "bx", "ax", "cx"]]
    for upward in (False, True):
        shapes = layout(nodes, edges, circles(nodes), upward)
        for edge in edges:
            assert (shapes[edge.target].y > shapes[edge.source].y) is not upward
        assert shapes["c"].y == shapes["b"].y  # a root stands next to its child


def test_cycles_are_drawn_too() -> None:
    nodes = [GraphNode(name, "latent", "Normal", ("generative",)) for name in "ab"]
    graph = Graph(nodes, [Edge("a", "b", "generative"), Edge("b", "a", "generative")])
    assert len(list(ElementTree.fromstring(graph.svg()).iter(f"{NAMESPACE}polygon"))) == 2


def test_arrows_to_all_of_a_plate_become_one() -> None:
    graph = graphs()["digits"]
    drawn = {(edge.source, edge.target) for edge in bundle(*graph.part("recognition"))}
    assert ("K", "digit[k]") in drawn
    assert not any(source == "K" and target != "digit[k]" for source, target in drawn)
