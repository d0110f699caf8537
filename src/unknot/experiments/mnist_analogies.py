"""mnist-analogies: a digit's style in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from unknot.experiments.demo import TRAIN
from unknot.experiments.digit_pictures import Look

READER = {
    "model": {"style": 2, "augment": "affine", "width": 32},
    "train": {"steps": 1500, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="mnist",
    labels=100,
    model={"style": 10, "augment": "affine"},
    train=TRAIN,
    reader=READER,
    picture="analogies",
).experiment(
    name="mnist-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about="Visual analogies on MNIST: the digit changes, ten dimensions of style are kept.",
    quick="about 5 CPU minutes a seed",
    notes="The demo's recipe with ten dimensions of style.",
)
