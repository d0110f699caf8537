"""Weights of classes: scikit-learn's numbers, and the law that they are those of the loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from tests.workflow.models import untrained
from unknot.data.factor import Factor
from unknot.errors import SpecError
from unknot.workflow.class_weights import class_weights, reweighed
from unknot.workflow.trained_model import TrainedModel

LABELS = Factor("kind", "categorical", torch.tensor([0, 0, 0, 0, 2, -1]), ("a", "b", "c"))


def test_balanced_weights_are_scikit_learns() -> None:
    a, b, c = class_weights("balanced", LABELS, ["a", "b", "c"])
    each = compute_sample_weight("balanced", ["a", "a", "a", "a", "c"])
    assert (a, c) == (each[0], each[-1])
    assert b == 1.0  # nobody has that label
    signs = Factor("ill", "binary", torch.tensor([0, 0, 0, 1]))
    assert class_weights("balanced", signs, [False, True]) == pytest.approx((2 / 3, 2.0))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("even", "None, 'balanced' or"),
        ({"d": 1.0}, "the classes of 'kind' are a, b, c"),
        ({"a": -1}, "above 0"),
    ],
)
def test_other_weights_are_refused(asked: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        class_weights(asked, LABELS, ["a", "b", "c"])


def test_they_do_what_weights_in_the_loss_do() -> None:
    """Two cells of x: the weighted fit and the unweighted one with weights on its answers agree."""
    x = np.repeat(np.eye(2), [100, 100], axis=0)
    y = np.r_[np.arange(100) < 10, np.arange(100) < 40].astype(int)  # p(1 | x) is .1 and .4
    plain = LogisticRegression(C=1e6).fit(x, y).predict_proba(np.eye(2))
    weighted = LogisticRegression(C=1e6, class_weight="balanced").fit(x, y).predict_proba(np.eye(2))
    weights = class_weights("balanced", Factor("y", "binary", torch.from_numpy(y)), [False, True])
    found = reweighed(torch.from_numpy(plain), weights).numpy()
    np.testing.assert_allclose(found, weighted, atol=1e-3)
    alone = reweighed(torch.from_numpy(plain[:, 1:]), weights).numpy()  # a yes-or-no node reports yes alone
    np.testing.assert_allclose(alone[:, 0], found[:, 1])


def test_equal_weights_change_nothing() -> None:
    shares = torch.rand(5, 3).softmax(1)
    torch.testing.assert_close(reweighed(shares, (2.0, 2.0, 2.0)), shares)


def test_a_model_keeps_them_in_its_file(tmp_path: Path) -> None:
    nodes = {
        "kind": {"family": "concrete", "size": 3, "inferred_from": ["x"], "labels": True},
        "x": {"family": "normal", "parents": ["kind"]},
    }
    none = Factor("kind", "categorical", LABELS.values[:0], LABELS.classes)
    plain = untrained({"nodes": nodes}, [4], kind=none)
    weighted = TrainedModel(plain.module, plain.source, plain.data, class_weights={"kind": (1.0, 2.0, 4.0)})
    x = torch.randn(6, 4)
    weighted.save(tmp_path / "model")
    found = TrainedModel.load(tmp_path / "model").predict(x).predictions["kind"]
    torch.testing.assert_close(found, reweighed(plain.predict(x).predictions["kind"], (1.0, 2.0, 4.0)))
