"""A graph as Graphviz text, for those who have Graphviz and want to go on from there."""

from __future__ import annotations

from collections.abc import Iterator

from unknot.graph.plates import plates_within
from unknot.graph.structure import MODELS, Graph, GraphNode, Model, same_turn

_SHAPES = {
    "latent": "",
    "partly observed": ', style="wedged", fillcolor="white:gray80"',
    "observed": ', style="filled", fillcolor="gray80"',
    "log-term": ', shape="square", style="filled", fillcolor="black", width=0.12, label="", xlabel={label}',
}
_COLORS = {"generative": '"#1f5fa8"', "recognition": '"#d9731a", style="dashed"'}


def dot(graph: Graph) -> str:
    """Graphviz text with one cluster per model and one inside it per plate."""
    lines = ["digraph {", "  compound=true;", '  node [shape="circle"];']
    for model in MODELS:
        nodes, edges = graph.part(model)
        if not nodes:
            continue
        lines += [f"  subgraph {_quote('cluster ' + model)} {{", f'    label="{model.title()} model";']
        lines += [f'    labelloc="b"; rankdir="TB"; color="white"; edge [color={_COLORS[model]}];']
        lines += ["    " + line for line in _plates(nodes, model)]
        for edge in edges:
            turn = f" [label={_quote(edge.source)}]" if edge.source != same_turn(edge.source) else ""
            source, target = _id(same_turn(edge.source), model), _id(edge.target, model)
            lines.append(f"    {source} -> {target}{turn};")
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _plates(nodes: list[GraphNode], model: Model, plate: str | None = None) -> Iterator[str]:
    for node in nodes:
        if node.plate == plate:
            label = _quote(node.name)
            yield f"{_id(node.name, model)} [label={label}{_SHAPES[node.kind].format(label=label)}];"
    for inner in plates_within(nodes, plate):
        yield f"subgraph {_quote(f'cluster {model} {inner}')} {{"
        yield f'  label={_quote(inner)}; color="gray50"; style="rounded";'
        yield from ("  " + line for line in _plates(nodes, model, inner))
        yield "}"


def _id(name: str, model: Model) -> str:
    return _quote(f"{model[0]} {name}")


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
