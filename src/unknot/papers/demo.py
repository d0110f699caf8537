"""The demonstration: MNIST from 100 labels with S17's model, or the embedded digits where MNIST cannot be had."""

from __future__ import annotations

from pathlib import Path

from unknot.data import load
from unknot.errors import DataError
from unknot.workflow.recipe import Recipe

# S17's graph and objective: digit and style make the image, the digit is recognised from the image and the style
# from both; 100 labelled and 200 unlabelled images in every step. The recogniser is a small convolutional network
# that sees jittered images. Steps, not minutes, so that a slow machine takes longer instead of doing worse.
TRAIN = {
    "steps": 2400,
    "batch_size": 300,
    "labelled_share": 1 / 3,
    "objective": {"name": "semi_supervised", "alpha": 100.0},
    "learning_rate": {"name": "cosine", "start": 1e-3},
}
MODEL = {"style": 8, "augment": "affine"}


def demo_recipe(seed: int, data_dir: str | Path | None = None) -> tuple[Recipe, str | None]:
    """The recipe, and a sentence about why it is not MNIST if it is not."""
    labels = {"digit": 100, "seed": seed}
    train = {**TRAIN, "seed": seed}
    try:
        load("mnist", data_dir=data_dir)
    except DataError as error:
        return Recipe({"name": "digits"}, labels, MODEL, {**train, "steps": 1000}), str(error)
    return Recipe({"name": "mnist"}, labels, MODEL, train), None
