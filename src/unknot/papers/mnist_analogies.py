"""mnist-analogies: a digit's style in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from unknot.papers.digit_pictures import Look
from unknot.papers.mnist import S17_VIEWS, VIEWS_TRAIN

# Convolutions and two views that agree, for a good recogniser; the generator sees the images as they are.
MODEL = {**{key: S17_VIEWS[key] for key in ("augment", "agreement", "confidence")}, "style": 10}
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
).experiment(
    name="mnist-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about="Visual analogies on MNIST: the digit changes, ten dimensions of style are kept.",
    quick="about 5 CPU minutes a seed",
    notes="A convolutional recogniser that reads a jittered image as the image itself; the generator sees no jitter.",
)
