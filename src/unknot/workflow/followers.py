"""Which variables follow when another is changed: those recognized from it without a look at the data."""

from __future__ import annotations

from collections.abc import Sequence

from unknot.models.spec import NodeSpec


def followers(nodes: Sequence[NodeSpec], changed: str) -> list[str]:
    """Variables that the encoder computes from ``changed`` and others, but not from the data (S17 Fig. 5 left).

    >>> from unknot.models import node
    >>> faces = [
    ...     node("light", "direction", 3, inferred_from=["x"]),
    ...     node("shading", "normal", 8, inferred_from=["light"]),
    ...     node("rest", "normal", 8, inferred_from=["x", "light"]),
    ...     node("x", "normal", parents=["light", "shading", "rest"]),
    ... ]
    >>> followers(faces, "light")
    ['shading']
    """
    data = {node.name for node in nodes if node.is_data}
    found: list[str] = []
    while True:
        more = [
            node.name
            for node in nodes
            if node.name not in (changed, *found)
            and {changed, *found} & set(node.inferred_from)
            and not data & set(node.inferred_from)
        ]
        if not more:
            return found
        found += more
