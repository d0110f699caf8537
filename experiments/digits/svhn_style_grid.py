"""svhn-style-grid: two dimensions of style, laid out for every digit (S17 Fig. 2b)."""

from __future__ import annotations

from experiments.digits.digit_pictures import Look
from experiments.digits.svhn import BEST, BEST_TRAIN

READER = {
    "model": {"style": 2, "width": 32},
    "train": {"steps": 1200, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model={**BEST, "style": 2},
    train={**BEST_TRAIN, "steps": 1000},
    reader=READER,
    picture="style-grid",
).experiment(
    name="svhn-style-grid",
    place="S17 Fig. 2b, S16 Fig. 3",
    about="Two dimensions of style on SVHN, laid out for every digit.",
    quick="about 5 CPU minutes a seed",
)
