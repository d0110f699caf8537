"""Items whose class is known, with what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from tests.report.tables import DATA, KIND, SIZE, X, answers, model
from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.report.predictions import calibration, class_predictions, mistakes, predicted_and_true
from unknot.workflow.evaluation import DatasetPrediction


def test_only_known_classes_are_there_and_numbers_are_not() -> None:
    hidden = torch.arange(60) < 50
    factors = {"kind": DATA.factors["kind"].hide(hidden), "size": DATA.factors["size"]}
    (one,) = class_predictions(model(), replace(DATA, factors=factors), answers({3: 0.7}))
    assert one.factor == "kind"
    assert one.classes == ("ill", "well")
    assert one.rows.tolist() == list(range(50))
    assert one.truth.tolist() == KIND[:50].tolist()
    assert (one.predicted != one.truth).nonzero()[0].tolist() == [3]
    assert one.confidence[3] == 0.7


def test_nothing_known_is_nothing_to_say() -> None:
    assert list(class_predictions(model(), replace(DATA, factors={}), answers({}))) == []


# ---- The surest mistakes: in order, as images or in words ------------------------------------------------


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


# ---- The section about calibration: its number, and no section for a handful of items --------------------


def test_the_caption_tells_the_calibration_error() -> None:
    (section,) = calibration(model(), DATA, answers({}))  # always right, 0.9 sure
    assert section.title == "Calibration: kind"
    assert "Expected calibration error: 10.0 %" in section.caption
    assert section.figure is not None


def test_a_handful_of_items_says_nothing() -> None:
    few = DATA.subset(range(10))
    said = answers({})
    said.predictions["kind"] = said.predictions["kind"][:10]
    assert calibration(model(), few, said) == []


# ---- Predicted against true numbers ----------------------------------------------------------------------


def test_right_answers_explain_everything_and_the_mean_nothing() -> None:
    (section,) = predicted_and_true(model(), DATA, answers({}))
    assert section.title == "Predicted and true: size"
    assert "explain 100 % of the variance (R² = 1.00" in section.caption
    said = answers({})
    said.predictions["size"] = np.full((60, 1), float(SIZE.mean()))
    (section,) = predicted_and_true(model(), DATA, said)
    assert (
        "explain 0 % of the variance" in section.caption or "explain -0 % of the variance" in section.caption
    )


def test_unknown_numbers_have_no_section() -> None:
    assert (
        predicted_and_true(model(), replace(DATA, factors={"kind": DATA.factors["kind"]}), answers({})) == []
    )
