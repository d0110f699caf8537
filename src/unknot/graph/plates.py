"""Loops as plates: the turns ``digit[0].y``, ``digit[1].y``, ... become one node ``digit[k].y``."""

from __future__ import annotations

import re

from unknot.graph.structure import Edge, Graph, GraphNode

_TURN = re.compile(r"\[(\d+)\]")
_LETTERS = "klmnopqrstuvw"  # one for each level of nested loops


def collapse(graph: Graph) -> Graph:
    """The same graph with one node, and one set of edges, for all turns of a loop."""
    nodes: dict[str, GraphNode] = {}
    for node in graph.nodes:
        name = _template(node.name)
        known = nodes.setdefault(name, node._replace(name=name, plate=_plate(name)))
        if known.kind != node.kind:  # some turns observed, some not
            nodes[name] = known._replace(kind="partly observed")
    return Graph(list(nodes.values()), _collapse_edges(graph))


def _collapse_edges(graph: Graph) -> list[Edge]:
    steps: dict[Edge, set[int]] = {}  # an edge between nodes, and how many turns it spans
    for edge in graph.edges:
        between = Edge(_template(edge.source), _template(edge.target), edge.model)
        steps.setdefault(between, set()).add(_step(edge))
    found: list[Edge] = []
    for edge, spans in steps.items():
        if 0 in spans:
            found.append(edge)
        if spans - {0}:
            found.append(edge._replace(source=_earlier(edge, spans - {0})))
    return found


def _template(name: str) -> str:
    """Letters in place of the turns' numbers.

    >>> _template("digit[2].stroke[0].z")
    'digit[k].stroke[l].z'
    """
    letters = iter(_LETTERS)
    return _TURN.sub(lambda _: f"[{next(letters)}]", name)


def _plate(template: str) -> str | None:
    """The innermost loop around a node.

    >>> _plate("digit[k].stroke[l].z"), _plate("x")
    ('digit[k].stroke[l]', None)
    """
    return template[: template.rindex("]") + 1] if "]" in template else None


def _shared(edge: Edge) -> int:
    """How many loops the two ends of an edge have in common."""
    ends = [_template(end).split("]")[:-1] for end in (edge.source, edge.target)]
    count = 0
    for mine, theirs in zip(*ends, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _step(edge: Edge) -> int:
    """How many turns of a common loop lie between the ends; the outermost that differs counts."""
    turns = [[int(i) for i in _TURN.findall(end)] for end in (edge.source, edge.target)]
    for mine, theirs in list(zip(*turns, strict=False))[: _shared(edge)]:
        if mine != theirs:
            return theirs - mine
    return 0


def _earlier(edge: Edge, spans: set[int]) -> str:
    """The source's name with the turns it belongs to: ``[k-1]``, or ``[<k]`` for more than the last."""
    depth = _shared(edge) - 1
    letter = _LETTERS[depth]
    if spans in ({1}, {-1}):
        turn = f"{letter}-1" if spans == {1} else f"{letter}+1"
    elif min(spans) > 0 or max(spans) < 0:
        turn = f"<{letter}" if min(spans) > 0 else f">{letter}"
    else:
        turn = f"≠{letter}"
    return edge.source.replace(f"[{letter}]", f"[{turn}]", 1)


def outer(plate: str) -> str | None:
    """The loop around a loop.

    >>> outer("digit[k].stroke[l]"), outer("digit[k]")
    ('digit[k]', None)
    """
    return _plate(plate[:-1])


def plates_within(nodes: list[GraphNode], plate: str | None) -> list[str]:
    """The loops directly inside ``plate`` (None: outside all loops), in the order of the nodes."""
    found: dict[str, None] = {}
    for node in nodes:
        inner = node.plate
        while inner is not None:
            if outer(inner) == plate:
                found[inner] = None
            inner = outer(inner)
    return list(found)


def inside(plate: str, other: str) -> bool:
    """Whether one loop is the other, or is somewhere inside it."""
    return plate == other or plate.startswith((other + ".", other + "["))
