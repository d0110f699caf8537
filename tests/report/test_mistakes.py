"""The surest mistakes: in order, as images or in words."""

from __future__ import annotations

import numpy as np
import torch

from tests.report.tables import DATA, X, answers, model
from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.report.mistakes import mistakes
from unknot.workflow.evaluation import DatasetPrediction


def test_rows_come_in_the_order_of_confidence_with_what_is_unusual() -> None:
    (section,) = mistakes(model(), DATA, answers({3: 0.7, 8: 0.99, 20: 0.6}))
    assert section.table is not None
    assert [row[:4] for row in section.table.rows] == [
        ("108", "ill", "well", "99 %"),
        ("103", "well", "ill", "70 %"),
        ("120", "ill", "well", "60 %"),
    ]
    age = X[:, 0].numpy()
    assert (
        f"age {age[8]:.3g} ({age[::2].mean():.3g})" in section.table.rows[0][4]
    )  # against the mean of "ill"


def test_no_mistake_no_section() -> None:
    assert mistakes(model(), DATA, answers({})) == []


def test_images_are_shown() -> None:
    torch.manual_seed(0)
    images = np.random.default_rng(0).integers(0, 255, (12, 6, 6)).astype(np.uint8)
    data = from_arrays(images, {"kind": ["a", "abyssinian cat"] * 6})
    nodes = [
        node("kind", "concrete", 2, inferred_from=["x"], labels=True),
        node("x", "bernoulli", parents=["kind"]),
    ]
    shares = np.tile([0.8, 0.2], (12, 1))  # "a" for all: every other one is wrong
    (section,) = mistakes(like(nodes, data), data, DatasetPrediction({"kind": shares}))
    assert section.figure is not None
    labels = [text.get_text() for text in section.figure.axes[0].get_xticklabels()]
    assert labels == ["abyssini…\nas a\n80 %"] * 6
