"""mnist-analogies: a digit's style in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from typing import Any

from unknot.papers.digit_pictures import Look
from unknot.papers.mnist import BEST, S17_VIEWS, VIEWS_TRAIN

# Convolutions and two views that agree, for a good recogniser; the generator sees the images as they are.
MODEL = {**{key: S17_VIEWS[key] for key in ("augment", "agreement", "confidence")}, "style": 10}
# Digit and style are read from the image apart from each other, and their correlation has a price (E19's (A)).
APART: dict[str, Any] = {
    **{key: BEST[key] for key in ("augment", "agreement", "confidence")},
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
PRICED_TRAIN: dict[str, Any] = {**VIEWS_TRAIN, "steps": 1500, "batch_size": 400}


def priced(between: float) -> dict[str, Any]:
    """Model and training with a price on the correlation between digit and style; 1 is the bound."""
    objective = {"name": "semi_supervised", "alpha": 400.0, "between": between}
    return {"model": APART, "train": {**PRICED_TRAIN, "objective": objective}}


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
