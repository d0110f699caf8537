"""Explanation as a table, a frame and text."""

from __future__ import annotations

import numpy as np

from unknot.workflow.explain.explanation import Explanation

FOUND = Explanation(
    "kind",
    ("age", "height"),
    np.array([0.1, 0.5]),
    np.array([0.01, 0.02]),
    np.zeros((3, 2)),
    "increase of the log loss (nats)",
    "drawn given the other columns",
    ("old", "tall"),
)


def test_the_most_important_column_comes_first() -> None:
    assert FOUND.to_dict() == {
        "name": ["height", "age"],
        "importance": [0.5, 0.1],
        "standard error": [0.02, 0.01],
        "toward": ["tall", "old"],
    }
    assert FOUND.to_dict(1)["name"] == ["height"]
    assert list(FOUND.to_frame()["name"]) == ["height", "age"]


def test_text() -> None:
    lines = str(FOUND).splitlines()
    assert lines[0] == "kind: increase of the log loss (nats) if a column is drawn given the other columns"
    assert lines[1].split() == ["height", "0.5", "±", "0.02", "tall"]
