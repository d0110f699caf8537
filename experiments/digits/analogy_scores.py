"""Measures of analogies: class predicted by an independent classifier, shift of the style, colors and specks."""

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

from experiments.ledger.experiment import Numbers
from experiments.ledger.fit import error_of, train_quietly
from unknot.errors import SpecError
from unknot.metrics.analogies import colors_kept, share_as_intended, sharpness, style_shift
from unknot.workflow.counterfactuals.predictor import NetworkPredictor
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained_model import TrainedModel


@dataclass(frozen=True)
class Classifier:
    """A classifier that shares nothing with the model whose images it scores, and its test error in per cent."""

    model: TrainedModel
    factor: str
    error: float

    def predict(self, images: Tensor) -> np.ndarray:
        """Return the class of each image, ``(...)`` from ``(..., C, H, W)``."""
        flat = images.flatten(0, -4)
        return NetworkPredictor(self.model).predict(flat)[self.factor].reshape(images.shape[:-3])


def fitted_classifier(data: str, factor: str, settings: Mapping[str, Any], seed: int) -> Classifier:
    """Return a convolutional classifier trained on all training labels of a data set, cached in the process.

    ``settings`` are those of its model and its training.
    """
    return _cached_classifier(data, factor, json.dumps(settings, sort_keys=True), seed)


@lru_cache(maxsize=2)
def _cached_classifier(data: str, factor: str, settings: str, seed: int) -> Classifier:
    chosen = json.loads(settings)
    train = {**chosen["train"], "objective": "supervised", "seed": seed}
    trained = train_quietly(Recipe({"name": data}, {"budget": {factor: "all"}}, chosen["model"], train))
    return Classifier(trained.model, factor, error_of(trained, factor))


def analogy_numbers(
    model: TrainedModel, classifier: Classifier, x: Tensor, style: str = "style", colors: bool = False
) -> Numbers:
    """Decode each item with every class and its own style (S17 Fig. 2a), and measure the images.

    Returns
    -------
    dict
        - ``read``: per cent of the images that the classifier predicts as the intended class.
        - ``shift``: distance between the style inferred from the new image (with the class inferred from it) and the
          style that it was decoded from, over the mean distance between the styles of two items.
        - ``sharpness``: that of the analogies over that of the items.
        - ``reconstruction``: cross-entropy between the pixels of an item and its reconstruction, in nats.
        - with ``colors`` those of :func:`kept_colors`, otherwise ``specks``: per cent of the analogies with specks.
    """
    classes = torch.arange(model.node(classifier.factor).size or 0)
    before = model.predict(x).values[style]
    images = model.vary(x, classifier.factor, classes)  # (N, K, C, H, W)
    after = torch.stack([model.predict(column).values[style] for column in images.unbind(1)], 1)  # (N, K, D)
    reconstructed = model.reconstruct(x).clamp(1e-6, 1 - 1e-6)
    return {
        "read": 100 * share_as_intended(classifier.predict(images)),
        "shift": style_shift(before.numpy(), after.numpy()),
        "sharpness": 100 * sharpness(images.numpy()) / sharpness(x.numpy()),
        "reconstruction": float(binary_cross_entropy(reconstructed, x, reduction="sum")) / len(x),
        **(
            kept_colors(x.numpy(), images.numpy())
            if colors
            else {"specks": 100 * share_with_specks(images.numpy())}
        ),
    }


def kept_colors(x: np.ndarray, images: np.ndarray) -> Numbers:
    """Return correlations of the colors of items ``(N, C, H, W)`` with those of analogies ``(N, K, C, H, W)``.

    ``color``: of the mean color, by channel; ``hue``: the same without brightness; ``ink`` and ``background``: of the
    colors of these two (:func:`ink_and_background`). ``sides``: per cent of the analogies whose ink is dark where that
    of the item is.
    """
    mean, changed = x.mean((-2, -1)), images.mean((-2, -1))
    ink, background = zip(ink_and_background(x), ink_and_background(images, x[:, None]), strict=True)
    return {
        "color": colors_kept(mean, changed),
        "hue": colors_kept(mean - mean.mean(-1, keepdims=True), changed - changed.mean(-1, keepdims=True)),
        "ink": colors_kept(*ink),
        "background": colors_kept(*background),
        "sides": 100 * float(np.mean(ink_is_dark(x)[:, None] == ink_is_dark(images))),
    }


# ---- ink and background ----------------------------------------------------------------------------------
# Otsu's threshold (1979) divides the pixels of an image into dark and light ones so that the variance of brightness
# between the two parts is largest. The background is the part that has most of the border, and the ink is the other.
# Where the border is half dark and half light the choice is unstable: of 1,000 training images of SVHN one in twenty
# changes after a rotation and a shift by a pixel. To compare two images, the choice is therefore made in the first of
# them only (``like``).

_BORDER = 8  # the width of the border is this part of a side


def ink_and_background(images: np.ndarray, like: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean colors of ink and of background, ``(..., C)`` each, of images ``(..., C, H, W)``.

    ``like``: images in which it is decided whether the ink is dark, by default the images themselves. An image of
    constant brightness is background only, and its ink has the same color.

    >>> sign = np.ones((3, 9, 9))
    >>> sign[0, 3:6, 4] = sign[1, 3:6, 4] = 0  # a blue line on white
    >>> [color.tolist() for color in ink_and_background(sign)]
    [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    light = _light(images)
    dark_ink = _ink_is_dark(light) if like is None else ink_is_dark(like)
    background = light == dark_ink[..., None, None]
    behind = _mean_color(images, background)
    one = np.asarray(~light.any((-2, -1)))[..., None]  # of one brightness
    everywhere = images.mean((-2, -1))
    ink = np.where(one, everywhere, _mean_color(images, ~background))
    return ink, np.where(one, everywhere, behind)


def ink_is_dark(images: np.ndarray) -> np.ndarray:
    """Return whether the ink is the dark part of an image ``(..., C, H, W)``, ``(...)``.

    >>> sign = np.ones((3, 9, 9))
    >>> sign[:, 3:6, 4] = 0
    >>> bool(ink_is_dark(sign)), bool(ink_is_dark(1 - sign))
    (True, False)
    """
    return _ink_is_dark(_light(images))


def _light(images: np.ndarray) -> np.ndarray:
    """Where an image is light, ``(..., H, W)``."""
    if images.ndim < 3 or min(images.shape[-2:]) < 3:
        raise SpecError(
            f"ink_and_background: expected images (..., C, H, W) of 3 x 3 or more, got {images.shape}"
        )
    gray = images.mean(-3)  # (..., H, W)
    return np.asarray(gray > _threshold(gray.reshape(*gray.shape[:-2], -1))[..., None, None])


def _ink_is_dark(light: np.ndarray) -> np.ndarray:
    return np.asarray(_border_share(light) > 0.5)


def _threshold(gray: np.ndarray) -> np.ndarray:
    """The brightest of the dark pixels ``(...)``, by Otsu's rule; ``gray`` is ``(..., P)``."""
    ordered = np.sort(gray, -1)
    sums, count = ordered.cumsum(-1), gray.shape[-1]
    below = np.arange(1, count)  # pixels in the dark part
    apart = (sums[..., -1:] - sums[..., :-1]) / (count - below) - sums[..., :-1] / below
    best = (below * (count - below) * apart**2).argmax(-1)
    return np.asarray(np.take_along_axis(ordered, best[..., None], -1)[..., 0])


def _border_share(mask: np.ndarray) -> np.ndarray:
    """The share of the border where a mask ``(..., H, W)`` holds."""
    height, width = mask.shape[-2:]
    rows, columns = -(-height // _BORDER), -(-width // _BORDER)
    border = np.ones((height, width), dtype=bool)
    border[rows:-rows, columns:-columns] = False
    return np.asarray(mask[..., border].mean(-1))


def _mean_color(images: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Mean color ``(..., C)`` of the pixels in a mask ``(..., H, W)``."""
    count = np.maximum(mask.sum((-2, -1)), 1)[..., None]
    return np.asarray((images * mask[..., None, :, :]).sum((-2, -1)) / count)


_INK = 0.3  # brightness of a pixel of ink
_SMALL = 6  # pixels; a dot of a pen has about three by three


def share_with_specks(images: np.ndarray) -> float:
    """Return the share of images ``(..., H, W)``, bright ink on dark, with a connected part of fewer than six pixels.

    A decoder that is trained to keep the style may encode it in a few stray pixels.

    >>> stroke, speck = np.zeros((2, 9, 9))
    >>> stroke[1:8, 4] = speck[1:8, 4] = 1
    >>> speck[2, 8] = 1
    >>> share_with_specks(np.stack([stroke, speck]))
    0.5
    """
    from scipy.ndimage import label

    if images.ndim < 2 or not images.size:
        raise SpecError(f"share_with_specks: expected images (..., H, W), got {images.shape}")
    flat = images.reshape(-1, *images.shape[-2:])
    corners = np.ones((3, 3))
    found = 0
    for image in flat:
        parts, _ = label(image > _INK, structure=corners)
        sizes = np.bincount(parts.ravel())[1:]  # without what is not ink
        found += bool((sizes < _SMALL).any())
    return found / len(flat)
