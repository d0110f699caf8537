"""Which variables follow a changed one."""

from __future__ import annotations

from unknot.models import node
from unknot.workflow.followers import followers


def test_only_what_never_looks_at_the_data_follows() -> None:
    nodes = [
        node("light", "direction", 3, inferred_from=["x"]),
        node("who", "concrete", 4, inferred_from=["x"]),
        node("shape", "normal", 2, inferred_from=["light", "who"]),
        node("shade", "normal", 2, inferred_from=["shape"]),
        node("style", "normal", 2, inferred_from=["x", "who"]),
        node("x", "normal", parents=["shape", "shade", "style"]),
    ]
    assert followers(nodes, "light") == ["shape", "shade"]
    assert followers(nodes, "shape") == ["shade"]
    assert followers(nodes, "style") == []
