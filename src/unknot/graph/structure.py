"""What a graph is: nodes, edges of two models, and the pictures it can draw of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from unknot.errors import TraceError

Model = Literal["generative", "recognition"]
Kind = Literal["latent", "partly observed", "observed", "log-term"]

MODELS: tuple[Model, Model] = ("generative", "recognition")
_INDEX = re.compile(r"\[(?:[<>≠]?)([a-z])(?:[+-]1)?\]")


class GraphNode(NamedTuple):
    """One variable, loss or log-term, or an input that no site observes."""

    name: str
    kind: Kind
    family: str  # the distribution's name, "Loss", "LogTerm" or "input"
    models: tuple[Model, ...]  # where it appears
    plate: str | None = None  # the innermost loop it stands in, as in "digit[k]"


class Edge(NamedTuple):
    """The parameters of ``target`` depend on the value of ``source``.

    In a plate the source may belong to another turn of the loop than the target: ``digit[k-1].y`` is the turn
    before, ``digit[<k].y`` all turns before.
    """

    source: str
    target: str
    model: Model


@dataclass(frozen=True)
class Graph:
    """The two graphical models of an encoder and a decoder. Notebooks show it as a picture."""

    nodes: list[GraphNode]
    edges: list[Edge]

    def __getitem__(self, name: str) -> GraphNode:
        found = {node.name: node for node in self.nodes}
        if name not in found:
            raise TraceError(f"the graph has no node '{name}'; it has: {', '.join(found)}")
        return found[name]

    def parents(self, name: str, model: Model) -> list[str]:
        """The sources of all edges into a node."""
        return [edge.source for edge in self.edges if edge.target == name and edge.model == model]

    def part(self, model: Model) -> tuple[list[GraphNode], list[Edge]]:
        """Nodes and edges of one model."""
        return [n for n in self.nodes if model in n.models], [e for e in self.edges if e.model == model]

    def svg(self) -> str:
        """Both models side by side as an SVG document."""
        from unknot.graph.svg import svg

        return svg(self)

    def dot(self) -> str:
        """Both models as Graphviz text."""
        from unknot.graph.dot import dot

        return dot(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        lines = []
        for model in MODELS:
            _, edges = self.part(model)
            if edges:
                lines += [f"{model}:", *(f"  {edge.source} -> {edge.target}" for edge in edges)]
        return "\n".join(lines)


def same_turn(name: str) -> str:
    """The node an edge's end belongs to.

    >>> same_turn("digit[k-1].y")
    'digit[k].y'
    """
    return _INDEX.sub(r"[\1]", name)
