"""Pictures of graphs: well-formed, complete, and with arrows that keep clear of other nodes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from torch import Tensor

import unknot
from tests.graph.graph_programs import (
    data,
    graphs,
    network,
)
from unknot.graph import Edge, Graph, GraphNode
from unknot.graph.structure import MODELS
from unknot.graph.svg import bundle

NAMESPACE = "{http://www.w3.org/2000/svg}"


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


def test_cycles_are_drawn_too() -> None:
    nodes = [GraphNode(name, "latent", "Normal", ("generative",)) for name in "ab"]
    graph = Graph(nodes, [Edge("a", "b", "generative"), Edge("b", "a", "generative")])
    assert len(list(ElementTree.fromstring(graph.svg()).iter(f"{NAMESPACE}polygon"))) == 2


def test_arrows_to_all_of_a_plate_become_one() -> None:
    graph = graphs()["digits"]
    drawn = {(edge.source, edge.target) for edge in bundle(*graph.part("recognition"))}
    assert ("K", "digit[k]") in drawn
    assert not any(source == "K" and target != "digit[k]" for source, target in drawn)
