"""Reading generated images: does an independent classifier see the class that an image was made for?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from experiments.digits.ink import ink_and_background, ink_is_dark
from experiments.digits.specks import share_with_specks
from experiments.ledger.experiment import Numbers
from experiments.ledger.fit_silently import error_of, train_quietly
from unknot.metrics.analogies import colors_kept, share_as_intended, sharpness, style_shift
from unknot.workflow.counterfactuals.predictor import NetworkPredictor
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class Reader:
    """A classifier that shares nothing with the model it judges, and its own test error in per cent."""

    model: TrainedModel
    factor: str
    error: float

    def read(self, images: Tensor) -> np.ndarray:
        """The class of each image, ``(...)`` from ``(..., C, H, W)``."""
        flat = images.flatten(0, -4)
        return NetworkPredictor(self.model).predict(flat)[self.factor].reshape(images.shape[:-3])


def make_reader(data: str, factor: str, settings: Mapping[str, Any], seed: int) -> Reader:
    """A convolutional classifier trained on all training labels of a data set, once in a process.

    ``settings`` are its model and its training.
    """
    return _made(data, factor, json.dumps(settings, sort_keys=True), seed)


@lru_cache(maxsize=2)
def _made(data: str, factor: str, settings: str, seed: int) -> Reader:
    chosen = json.loads(settings)
    train = {**chosen["train"], "objective": "supervised", "seed": seed}
    trained = train_quietly(Recipe({"name": data}, {"budget": {factor: "all"}}, chosen["model"], train))
    return Reader(trained.model, factor, error_of(trained, factor))


def analogy_numbers(
    model: TrainedModel, reader: Reader, x: Tensor, style: str = "style", colors: bool = False
) -> Numbers:
    """Each item made anew with every class, everything else kept (S17 Fig. 2a), and read.

    ``read``: per cent of them that the reader reads as the class they were made for. ``shift``: how far the style
    recognized from the new image (at the class recognized from it) is from the style it was made from, over the
    mean distance between the styles of two items. ``sharpness``: that of the analogies over that of the items.
    ``reconstruction``: the cross entropy of the pixels of each item and the item made anew, in nats. With
    ``colors``, how those of the analogies follow those of the items, too (:func:`kept_colors`); without, ``specks``:
    per cent of the analogies with stray ink (:mod:`experiments.digits.specks`).
    """
    classes = torch.arange(model.node(reader.factor).size or 0)
    before = model.predict(x).values[style]
    images = model.vary(x, reader.factor, classes)  # (N, K, C, H, W)
    after = torch.stack([model.predict(column).values[style] for column in images.unbind(1)], 1)  # (N, K, D)
    anew = model.reconstruct(x).clamp(1e-6, 1 - 1e-6)
    return {
        "read": 100 * share_as_intended(reader.read(images)),
        "shift": style_shift(before.numpy(), after.numpy()),
        "sharpness": 100 * sharpness(images.numpy()) / sharpness(x.numpy()),
        "reconstruction": float(binary_cross_entropy(anew, x, reduction="sum")) / len(x),
        **(kept_colors(x.numpy(), images.numpy()) if colors else _stray_ink(images)),
    }


def _stray_ink(images: Tensor) -> Numbers:
    return {"specks": 100 * share_with_specks(images.numpy())}


def kept_colors(x: np.ndarray, images: np.ndarray) -> Numbers:
    """Correlations of the colors of items ``(N, C, H, W)`` with those of analogies ``(N, K, C, H, W)``.

    ``color``: of the mean color, channel by channel. ``hue``: of what is left of it without its brightness. ``ink``
    and ``background``: of the colors of these two, the dark part or the light one as in the item
    (:mod:`experiments.digits.ink`). ``sides``: per cent of the analogies whose ink is dark where that of the item is.
    """
    mean, made = x.mean((-2, -1)), images.mean((-2, -1))
    ink, background = zip(ink_and_background(x), ink_and_background(images, x[:, None]), strict=True)
    return {
        "color": colors_kept(mean, made),
        "hue": colors_kept(mean - mean.mean(-1, keepdims=True), made - made.mean(-1, keepdims=True)),
        "ink": colors_kept(*ink),
        "background": colors_kept(*background),
        "sides": 100 * float(np.mean(ink_is_dark(x)[:, None] == ink_is_dark(images))),
    }
