"""mnist-style-grid: two dimensions of style, laid out for every digit (S17 Fig. 2b)."""

from __future__ import annotations

from experiments.digits.digit_pictures import Look
from experiments.digits.mnist import VIEWS_TRAIN
from experiments.digits.mnist_analogies import READER, VIEWS

EXPERIMENT = Look(
    data="mnist",
    labels=100,
    model={**VIEWS, "style": 2},
    train={**VIEWS_TRAIN, "steps": 1600},
    reader=READER,
    picture="style-grid",
).experiment(
    name="mnist-style-grid",
    place="S17 Fig. 2b, S16 Fig. 3",
    about="Two dimensions of style on MNIST, laid out for every digit.",
    quick="about 5 CPU minutes a seed",
)
