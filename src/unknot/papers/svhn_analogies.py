"""svhn-analogies: a house number's look in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from unknot.papers.digit_pictures import Look
from unknot.papers.svhn import BEST, BEST_TRAIN

TRAIN = {**BEST_TRAIN, "steps": 1000}
READER = {
    "model": {"style": 2, "width": 32},
    "train": {"steps": 1200, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

NOTES = "The best recipe of svhn, trained for a shorter time, on the same subset of 20,000 training images."

EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model=BEST,
    train=TRAIN,
    reader=READER,
    picture="analogies",
).experiment(
    name="svhn-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about="Visual analogies on SVHN: the digit changes, 15 dimensions of style are kept.",
    quick="about 5 CPU minutes a seed",
    notes=NOTES,
)
