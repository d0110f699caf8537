"""mnist-analogies: a digit's style in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from typing import Any

from unknot.papers import demo
from unknot.papers.digit_pictures import Look
from unknot.papers.mnist import S17_VIEWS, VIEWS_TRAIN

# Convolutions and two views that agree, for a good recogniser; the generator sees the images as they are.
MODEL = {**{key: S17_VIEWS[key] for key in ("augment", "agreement", "confidence")}, "style": 10}


def priced(between: float) -> dict[str, Any]:
    """The demo's model, digit and style read apart, and a price on their correlation (E19's (A)); 1 is the bound."""
    return {
        "model": demo.MODEL,
        "train": {**demo.TRAIN, "objective": {**demo.TRAIN["objective"], "between": between}},
    }


# Without jitter: a reader trained on jittered digits takes whatever is a little blurred for an eight.
READER = {
    "model": {"style": 2, "width": 32},
    "train": {"steps": 1500, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="mnist",
    labels=100,
    model=MODEL,
    train={**VIEWS_TRAIN, "steps": 1600},
    reader=READER,
    picture="analogies",
    ahead={f"digit and style apart, between = {price:g}": priced(price) for price in (6.0, 3.0, 1.0)},
).experiment(
    name="mnist-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about="Visual analogies on MNIST: the digit changes, ten dimensions of style are kept.",
    quick="from 5 to 12 CPU minutes a seed",
    notes=(
        "A convolutional recogniser that reads a jittered image as the image itself; the generator sees no jitter. "
        "Between: the price of the correlation between digit and style in E19's decomposition, within Eq. 8; 1 is the "
        "bound alone. The last rows read the style from the image and the digit, without a price."
    ),
)
