"""A class and a style of small digits: the model's nodes, and a batch of which some items have a label."""

from __future__ import annotations

from typing import Any

from unknot.data import load
from unknot.data.batch import Batch
from unknot.data.label_budget import LabelBudget

NODES: dict[str, dict[str, Any]] = {
    "digit": {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
    "style": {"family": "normal", "size": 3, "inferred_from": ["x", "digit"]},
    "x": {"family": "bernoulli", "parents": ["digit", "style"]},
}


def batch_of_digits(labels: int = 700) -> Batch:
    """Forty images, and the labels of those that are among ``labels`` chosen ones."""
    data = load("digits").split("train")
    return LabelBudget.draw(data, 0, digit=labels).apply(data).batch(range(40))
