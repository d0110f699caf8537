"""mnist-style-grid: two dimensions of style, laid out for every digit (S17 Fig. 2b)."""

from __future__ import annotations

from unknot.experiments.demo import TRAIN
from unknot.experiments.digit_pictures import Look
from unknot.experiments.mnist_analogies import READER

# No jitter: two dimensions cannot hold handwriting and jitter both, and what they do not hold is blurred.
EXPERIMENT = Look(
    data="mnist",
    labels=100,
    model={"style": 2},
    train=TRAIN,
    reader=READER,
    picture="style-grid",
).experiment(
    name="mnist-style-grid",
    place="S17 Fig. 2b, S16 Fig. 3",
    about="Two dimensions of style on MNIST, laid out for every digit.",
    quick="about 5 CPU minutes a seed",
    notes="The demo's recipe with two dimensions of style and without jitter, which would take them up.",
)
