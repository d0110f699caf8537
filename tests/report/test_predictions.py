"""Sections about mistakes: what is shown of unseen labels, in which order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from tests.report.tables import DATA, KIND, SIZE, X, answers, model
from tests.workflow.models import like
from tests.workflow.verdict.made import fold_of
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.report.predictions import calibration, confusions, doubts, mistakes, predicted_and_true, uncertain
from unknot.workflow.evaluation import DatasetPrediction
from unknot.workflow.trained_labels import without_labels
from unknot.workflow.verdict.unseen import Unseen, unseen_labels


def unseen(predictions: DatasetPrediction, data: Dataset = DATA) -> list[Unseen]:
    return unseen_labels(model(), data, data, predictions)


def test_every_factor_has_its_sections() -> None:
    titles = [section.title for section in doubts(unseen(answers({3: 0.7})), DATA)]
    assert titles == [
        "Confusion: kind",
        "Calibration: kind",
        "Most confident mistakes: kind",
        "Predicted and true: size",
    ]
    assert doubts(unseen(answers({}), replace(DATA, factors={})), DATA) == []
    assert "Confusion of 60 held-out labels" in confusions(unseen(answers({}))[0]).caption


def test_mistakes_of_cross_fitting_are_shown_where_their_items_are() -> None:
    """Of 20 labels in the training data the last two are wrong; one of the items is not among those shown."""
    truth = KIND.numpy()[:20]
    shares = np.where(np.arange(2) == truth[:, None], 0.9, 0.1)
    shares[18:] = shares[18:, ::-1]
    folds = replace(fold_of(truth, shares), ids=np.append(np.arange(100, 119), 999))
    fitted = replace(model(), out_of_fold={"kind": folds})
    (one,) = unseen_labels(fitted, DATA, without_labels(DATA), None)
    (section,) = mistakes(one, DATA)
    assert section.table is not None
    assert [row[0] for row in section.table.rows] == ["118"]
    assert "20 out-of-fold labels" in section.caption


def test_the_least_certain_items_come_first() -> None:
    shares = np.array([[0.9, 0.1], [0.45, 0.55], [0.3, 0.7]])
    (section,) = uncertain("kind", ("ill", "well"), shares, np.array([4, 5, 8]), DATA)
    assert section.table is not None
    assert section.table.rows == (
        ("105", "well (55 %)", "ill (45 %)"),
        ("108", "well (70 %)", "ill (30 %)"),
        ("104", "ill (90 %)", "well (10 %)"),
    )
    assert uncertain("kind", ("ill", "well"), shares[:0], np.zeros(0, int), DATA) == []


# ---- The surest mistakes: in order, as images or in words ------------------------------------------------


def test_rows_come_in_the_order_of_confidence_with_what_is_unusual() -> None:
    (section,) = mistakes(unseen(answers({3: 0.7, 8: 0.99, 20: 0.6}))[0], DATA)
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
    assert mistakes(unseen(answers({}))[0], DATA) == []


def test_images_are_shown() -> None:
    torch.manual_seed(0)
    images = np.random.default_rng(0).integers(0, 255, (12, 6, 6)).astype(np.uint8)
    data = from_arrays(images, {"kind": ["a", "abyssinian cat"] * 6})
    nodes = [
        node("kind", "concrete", 2, inferred_from=["x"], labels=True),
        node("x", "bernoulli", parents=["kind"]),
    ]
    shares = np.tile([0.8, 0.2], (12, 1))  # "a" for all: every other one is wrong
    (one,) = unseen_labels(like(nodes, data), data, data, DatasetPrediction({"kind": shares}))
    (section,) = mistakes(one, data)
    assert section.figure is not None
    labels = [text.get_text() for text in section.figure.axes[0].get_xticklabels()]
    assert labels == ["abyssinian\ncat\nas a\n80 %"] * 6  # long names have two lines
    (section,) = uncertain("kind", one.classes, one.predictions, one.rows, data)
    assert section.figure is not None


# ---- The section about calibration: its number, and no section for a handful of items --------------------


def test_the_caption_tells_the_calibration_error() -> None:
    (section,) = calibration(unseen(answers({}))[0])  # always right, 0.9 sure
    assert section.title == "Calibration: kind"
    assert "Expected calibration error: 10.0 %" in section.caption
    assert section.figure is not None


def test_a_handful_of_items_says_nothing() -> None:
    few = DATA.subset(range(10))
    said = answers({})
    said.predictions["kind"] = said.predictions["kind"][:10]
    said.predictions["size"] = said.predictions["size"][:10]
    assert calibration(unseen(said, few)[0]) == []


# ---- Predicted against true numbers ----------------------------------------------------------------------


def test_right_answers_explain_everything_and_the_mean_nothing() -> None:
    (section,) = predicted_and_true(unseen(answers({}))[1])
    assert section.title == "Predicted and true: size"
    assert "explain 100 % of the variance (R² = 1.00" in section.caption
    said = answers({})
    said.predictions["size"] = np.full((60, 1), float(SIZE.mean()))
    (section,) = predicted_and_true(unseen(said)[1])
    assert (
        "explain 0 % of the variance" in section.caption or "explain -0 % of the variance" in section.caption
    )
