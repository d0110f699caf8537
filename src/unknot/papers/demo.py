"""The demonstration: MNIST from 100 labels with S17's model, or the embedded digits where MNIST cannot be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unknot.data import load
from unknot.errors import DataError
from unknot.workflow.recipe import Recipe

# S17's graph: digit and style make the image. Both are read from the image by a small
# convolutional network that must read a jittered image as the image itself, and the correlation between digit and style
# has a price (E19's term (A), within S17's Eq. 8), so that the style does not keep the digit for itself.
# Steps, not minutes, so that a slow machine takes longer instead of doing worse.
MODEL: dict[str, Any] = {
    "augment": {"turn": 0.12, "scale": 0.1, "shear": 0.12, "shift": 0.06, "bend": 0.05},
    "agreement": 400.0,
    "confidence": 0.9,
    "nodes": {
        "digit": {"family": "concrete", "size": 10, "recognised_from": ["x"], "labels": True},
        "style": {"family": "normal", "size": 10, "recognised_from": ["x"]},
        "x": {
            "family": "bernoulli",
            "parents": ["digit", "style"],
            "channels": [16, 32, 64],
            "pooled": True,
            "hidden": [400, 400],
        },
    },
}
TRAIN: dict[str, Any] = {
    "steps": 1500,
    "batch_size": 400,
    "labelled_share": 0.25,
    "objective": {"name": "semi_supervised", "alpha": 400.0, "between": 6.0},
    "learning_rate": {"name": "cosine", "start": 2e-3},
}


def demo_recipe(seed: int, data_dir: str | Path | None = None) -> tuple[Recipe, str | None]:
    """The recipe, and a sentence about why it is not MNIST if it is not."""
    labels = {"digit": 100, "seed": seed}
    train = {**TRAIN, "seed": seed}
    try:
        load("mnist", data_dir=data_dir)
    except DataError as error:
        return Recipe({"name": "digits"}, labels, MODEL, {**train, "steps": 1000}), str(error)
    return Recipe({"name": "mnist"}, labels, MODEL, train), None
