"""Graphviz text: every node, edge and plate of both models."""

from __future__ import annotations

from tests.graph.graph_programs import (
    graphs,
)


def test_dot_text() -> None:
    text = graphs()["digits"].dot()
    assert text.count("{") == text.count("}") == 5  # the whole, two models, a plate in each
    assert '"g digit[k].y" -> "g digit[k].x";' in text
    assert '"r digit[k].x" -> "r digit[k].y";' in text
    assert '"g x" [label="x", style="filled"' in text
    assert '[label="digit[<k].a"]' in graphs()["feedback"].dot()
