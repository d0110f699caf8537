"""The demonstration: MNIST from 100 labels with S17's graph, or the embedded digits where MNIST is not available.

Digit and style generate the image. A small convolutional network encodes both; its predictions for an image and for
an augmented view of it must agree. Swapped factors, independence and whitening keep the digit out of the style.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unknot.data import load
from unknot.errors import DataError
from unknot.workflow.recipe import Recipe

WHITENED = {"name": "mlp", "whiten": "digit"}
DECODER = {"name": "mlp", "hidden": [400, 400]}
MODEL: Mapping[str, Any] = {
    "augment": {"turn": 0.25, "scale": 0.2, "shear": 0.25, "shift": 0.1},
    "nodes": {
        "digit": {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
        "style": {"family": "normal", "size": 6, "inferred_from": ["x", "digit"], "encoder": WHITENED},
        "x": {"family": "bernoulli", "parents": ["digit", "style"], "decoder": DECODER},
    },
}
TRAIN: Mapping[str, Any] = {
    "steps": 1000,
    "batch_size": 256,
    "labeled_share": 0.25,
    "objective": {
        "name": "semi_supervised",
        "alpha": 400.0,
        "regularizers": {
            "agreement": {"weight": 400.0, "confidence": 0.9},
            "swap": 1.0,
            "independence": 5000.0,
        },
    },
    "learning_rate": {"name": "cosine", "start": 2e-3},
}


def demo_recipe(seed: int, data_dir: str | Path | None = None) -> tuple[Recipe, str | None]:
    """Return the recipe and, if MNIST is not available, the reason.

    Training stops after a number of steps, not after a time, so a slow machine takes longer and ends in the same model.
    """
    labels = {"budget": {"digit": 100}, "seed": seed}
    train = {**TRAIN, "seed": seed}
    try:
        load("mnist", data_dir=data_dir)
    except DataError as error:
        return Recipe({"name": "digits"}, labels, MODEL, train), str(error)
    return Recipe({"name": "mnist"}, labels, MODEL, train), None
