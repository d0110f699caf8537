"""Tables about the data and of what was measured on unseen labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, log_loss

from unknot.report.data_tables import measured
from unknot.workflow.evaluation import MEASURES
from unknot.workflow.verdict.unseen import Unseen


def unseen(count: int = 50, classes: int = 3, folds: int = 5) -> Unseen:
    draw = np.random.default_rng(0)
    names = tuple("abcdefg"[:classes])
    probabilities = draw.dirichlet(np.ones(classes), count)
    return Unseen(
        "kind",
        MEASURES["error"],
        names,
        np.arange(count),
        draw.integers(0, classes, count),
        probabilities,
        folds,
    )


def test_numbers_of_classes_are_those_of_scikit_learn() -> None:
    one = unseen()
    (section,) = measured([one], [])
    assert section.table is not None
    row = dict(zip(section.table.header, section.table.rows[0], strict=True))
    assert row["measured on"] == "50 out-of-fold labels"
    assert row["value"] == f"{100 * np.mean(one.predictions.argmax(1) != one.truth):.2f} %"
    assert float(row["log loss"]) == pytest.approx(log_loss(one.truth, one.predictions), abs=6e-4)
    f1 = f1_score(one.truth, one.predictions.argmax(1), average="macro")
    assert float(row["macro F1"]) == pytest.approx(f1, abs=6e-4)
    assert row["mean probability"] == f"{100 * one.predictions.max(1).mean():.0f} %"


def test_held_out_labels_come_before_out_of_fold_ones() -> None:
    (section,) = measured([unseen(folds=0)], [unseen(40)])
    assert section.table is not None
    assert [row[1] for row in section.table.rows] == ["50 held-out labels", "40 out-of-fold labels"]


def test_nothing_measured_is_no_table() -> None:
    assert measured([], []) == []
