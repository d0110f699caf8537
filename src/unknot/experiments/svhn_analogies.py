"""svhn-analogies: a house number's look in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from unknot.experiments.digit_pictures import Look

TRAIN = {
    "steps": 2000,
    "batch_size": 150,
    "labelled_share": 1 / 3,
    "objective": {"name": "semi_supervised", "alpha": 100.0},
    "learning_rate": {"name": "cosine", "start": 1e-3},
}
READER = {
    "model": {"style": 2, "width": 32},
    "train": {"steps": 2000, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model={"style": 15, "augment": "affine"},
    train=TRAIN,
    reader=READER,
    picture="analogies",
).experiment(
    name="svhn-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about="Visual analogies on SVHN: the digit changes, 15 dimensions of style are kept.",
    quick="about 5 CPU minutes a seed",
    notes="",
)
