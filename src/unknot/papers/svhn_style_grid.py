"""svhn-style-grid: two dimensions of style, laid out for every digit (S17 Fig. 2b)."""

from __future__ import annotations

from unknot.papers.digit_pictures import Look
from unknot.papers.svhn import BEST
from unknot.papers.svhn_analogies import NOTES, READER, TRAIN

EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model={**BEST, "style": 2},
    train=TRAIN,
    reader=READER,
    picture="style-grid",
).experiment(
    name="svhn-style-grid",
    place="S17 Fig. 2b, S16 Fig. 3",
    about="Two dimensions of style on SVHN, laid out for every digit.",
    quick="about 5 CPU minutes a seed",
    notes=NOTES,
)
