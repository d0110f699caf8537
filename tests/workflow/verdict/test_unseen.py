"""Unseen labels: which items they belong to, and their numbers beside scikit-learn's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score, log_loss

from tests.report.tables import DATA, KIND, SIZE, answers, model
from tests.workflow.verdict.made import fold_of
from unknot.workflow.trained_labels import without_labels
from unknot.workflow.verdict.unseen import Unseen, unseen_labels

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet([1, 1], 40)
FOLD = replace(fold_of(KIND.numpy()[:40], SHARES), ids=np.arange(100, 140))  # of the items 100 to 139


def test_held_out_labels_are_those_that_are_known() -> None:
    hidden = torch.arange(60) < 50
    factors = {"kind": DATA.factors["kind"].hide(hidden), "size": DATA.factors["size"]}
    held_out = replace(DATA, factors=factors)
    kind, size = unseen_labels(model(), DATA, held_out, answers({3: 0.7}))
    assert (kind.factor, kind.classes, kind.folds, kind.where) == (
        "kind",
        ("ill", "well"),
        0,
        "50 held-out labels",
    )
    assert kind.rows.tolist() == list(range(50))
    assert kind.truth.tolist() == KIND[:50].tolist()
    assert np.flatnonzero(~kind.right).tolist() == [3]
    assert kind.confidence[3] == 0.7
    assert kind.value == 1 / 50
    assert (size.classes, len(size), size.value) == ((), 60, 0.0)
    np.testing.assert_allclose(size.truth[:, 0], SIZE)


def test_out_of_fold_labels_belong_to_items_that_were_trained_on() -> None:
    fitted = replace(model(), out_of_fold={"kind": FOLD})
    (kind,) = unseen_labels(fitted, DATA, without_labels(DATA), None)
    assert (kind.folds, kind.where) == (5, "40 out-of-fold labels")
    assert kind.rows.tolist() == list(range(40))
    np.testing.assert_array_equal(kind.predictions, SHARES)
    held_out = unseen_labels(fitted, DATA, DATA, answers({}))  # labels that were not trained on come first
    assert [one.folds for one in held_out] == [0, 0]


def test_items_of_other_data_with_the_same_ids_are_not_taken_for_those_of_training() -> None:
    fitted = replace(model(), out_of_fold={"kind": FOLD})
    factors = {"kind": replace(DATA.factors["kind"], values=1 - KIND)}
    (kind,) = unseen_labels(
        fitted, replace(DATA, factors=factors), without_labels(replace(DATA, factors=factors)), None
    )
    assert set(kind.rows) == {-1}
    (kind,) = unseen_labels(fitted, replace(DATA, factors={}), replace(DATA, factors={}), None)
    assert set(kind.rows) == {-1}
    assert len(kind) == 40  # the numbers do not need the items


def test_numbers_are_those_of_scikit_learn() -> None:
    (one,) = unseen_labels(replace(model(), out_of_fold={"kind": FOLD}), DATA, without_labels(DATA), None)
    assert isinstance(one, Unseen)
    truth = KIND.numpy()[:40]
    assert one.log_loss == pytest.approx(log_loss(truth, SHARES))
    assert one.macro_f1 == pytest.approx(f1_score(truth, SHARES.argmax(1), average="macro"))
    assert one.value == pytest.approx((SHARES.argmax(1) != truth).mean())
    assert one.confusion.sum() == 40
    assert one.calibration.items.sum() == 40
