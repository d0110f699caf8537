"""The demonstration: MNIST from 100 labels with S17's model, or the embedded digits where MNIST cannot be had.

S17's graph: digit and style make the image. Both are read from the image by a small convolutional network that must
read a jittered image as the image itself, and the digit is kept out of the style by the means of mnist-analogies, with
one network for both and for a shorter time.
"""

from __future__ import annotations

from pathlib import Path

from unknot.data import load
from unknot.errors import DataError
from experiments.digits.mnist_analogies import TRAIN, model
from unknot.workflow.recipe import Recipe

MODEL = model(True, swap=1.0, independence=5000.0)


def demo_recipe(seed: int, data_dir: str | Path | None = None) -> tuple[Recipe, str | None]:
    """The recipe, and a sentence about why it is not MNIST if it is not.

    It counts steps, not minutes, so that a slow machine takes longer instead of doing worse.
    """
    labels = {"digit": 100, "seed": seed}
    train = {**TRAIN, "seed": seed}
    try:
        load("mnist", data_dir=data_dir)
    except DataError as error:
        return Recipe({"name": "digits"}, labels, MODEL, train), str(error)
    return Recipe({"name": "mnist"}, labels, MODEL, train), None
