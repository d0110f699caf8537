"""svhn-analogies: a house number's look in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from typing import Any

from unknot.papers.digit_pictures import Look, class_and_style
from unknot.papers.svhn import BEST, BEST_TRAIN

STYLE = 20  # dimensions: light, the colours of wall and number, their contrast, place and slant
NOISE = 0.2  # of colours; Bernoulli pixels have about 0.5, and colour is not worth its price in nats
# Weights of what else is learned, beside a likelihood that is sharper by that much.
WEIGHTS = {"agreement": 16000.0, "swap": 10.0, "independence": 20000.0}
TRAIN: dict[str, Any] = {
    **BEST_TRAIN,
    "steps": 1000,
    "objective": {"name": "semi_supervised", "alpha": 16000.0},
    "learning_rate": {"name": "cosine", "start": 3e-3},
}

# S17's class and style, whitened within the digits; what the digit makes is multiplied by what the style makes.
X = {"family": "normal", "scale": NOISE, "generator": "product", "hidden": [384]}
MODEL: dict[str, Any] = {
    **{key: BEST[key] for key in ("augment", "confidence")},
    **WEIGHTS,
    "nodes": class_and_style(STYLE, X, whiten=True),
}
BOUND_ALONE = {"model": BEST, "train": {**BEST_TRAIN, "steps": 1000}}
READER = {
    "model": {
        "style": 2,
        "width": 32,
        "augment": {"turn": 0.1, "scale": 0.1, "shear": 0.1, "shift": 0.1},
        "x": {"channels": [32, 64, 128], "pooled": True},
    },
    "train": {"steps": 1000, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model=MODEL,
    train=TRAIN,
    reader=READER,
    picture="analogies",
    beside={"the bound alone, Bernoulli pixels by convolutions": BOUND_ALONE},
    goals={
        "read": 96.0,
        "colour": 0.95,
        "background": 0.95,
        "ink": 0.95,
        "style_linear": 75.9,
        "style_neighbours": 81.2,
    },
).experiment(
    name="svhn-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about=f"Visual analogies on SVHN: the digit changes, {STYLE} dimensions of style are kept.",
    quick="from 5 to 10 CPU minutes a seed",
    notes=(
        "On the subset of 20,000 training images. What the digit makes is multiplied by what the style makes, for a "
        f"number may be darker or brighter than its wall; colours have normal noise of {NOISE}; the style is kept free "
        "of the digit as in mnist-analogies. The row below is the best recipe of svhn, trained for a shorter time. Ink "
        "and background are told apart by brightness. "
        "On the labels alone these rates are too high, and the recogniser names the commonest digit; what a recogniser "
        "learns from as many labels is in svhn. "
        "Settings were chosen on the last 3,000 training images, at half the resolution. The digits are not equally "
        "frequent: from a style of noise a linear probe errs by 80.9 %, five neighbours by 86.2 %."
    ),
)
