"""Labels of every form by the estimator: what a model learns from them, and what it says about them."""

from __future__ import annotations

import numpy as np
import pytest

from unknot.data import Hierarchy, Votes
from unknot.errors import DataError, SpecError
from unknot.estimator import StructuredVAE

TREE = {"left": ["a", "b"], "right": ["c"]}
QUIET = {"verbose": False, "verdict": False}


def items(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Items of three classes, far apart."""
    y = np.arange(n) % 3
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, 3)) + 4 * np.eye(3)[y]).astype(np.float32), y


def error(vae: StructuredVAE, x: np.ndarray, y: np.ndarray) -> float:
    return float((vae.predict(x) != np.array(list("abc"))[y]).mean())


@pytest.mark.parametrize("model", ["ensemble", "class_style"])
def test_coarse_labels_tell_a_class_apart_that_has_no_label_of_its_own(model):
    x, y = items()
    labels = ["left" if k < 2 else None for k in y]  # no item has the label c
    labels[:12] = ["ab"[k] if k < 2 else "!left" for k in y[:12]]
    vae = StructuredVAE(model, classes={"kind": TREE}, steps=60, cross_fit=0, learning_rate=0.01, **QUIET)
    vae.fit(x, kind=labels)
    assert error(vae, x, y) < 0.1
    leaves = vae.predict_proba(x)
    tops = vae.predict_proba(x, depth=1)
    assert vae.classes_["kind"] == ["a", "b", "c"]
    assert np.allclose(tops, np.stack([leaves[:, :2].sum(1), leaves[:, 2]], 1), atol=1e-6)
    assert np.array_equal(vae.predict(x, depth=1), np.array(["left", "right"])[tops.argmax(1)])
    assert np.array_equal(vae.predict(x, depth=2), vae.predict(x))
    with pytest.raises(DataError, match="depth is from 1 to 2"):
        vae.predict(x, depth=3)


@pytest.mark.parametrize("model", ["ensemble", "class_style"])
def test_votes_alone_are_enough_and_the_raters_are_learned(model, tmp_path):
    x, y = items()
    rng = np.random.default_rng(1)
    lies = [np.where(rng.random(len(y)) < share, (y + 1) % 3, y) for share in (0.05, 0.2, 0.5)]
    words = [np.array(list("abc"))[one].tolist() for one in lies]
    votes = Votes(dict(zip(("good", "fair", "bad"), words, strict=True)))
    vae = StructuredVAE(model, steps=60, learning_rate=0.01, **QUIET).fit(x, kind=votes)
    assert error(vae, x, y) < 0.15
    found = vae.rater_confusion_["kind"]
    assert list(found) == ["good", "fair", "bad"]
    # the standard error of the larger share is .09
    assert abs(float(np.diag(found["bad"]).mean()) - 0.5) < 0.25
    assert float(np.diag(found["good"]).mean()) > float(np.diag(found["bad"]).mean())
    vae.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    assert np.array_equal(again.rater_confusion_["kind"]["bad"], found["bad"])
    with pytest.raises(SpecError, match="has no tree of classes"):
        vae.predict(x, depth=1)


def test_trees_survive_saving(tmp_path):
    x, y = items(30)
    labels = [["a", "b"] if k < 2 else "c" for k in y]
    labels[:2] = ["a", "b"]
    tree = Hierarchy.from_mapping(TREE)
    vae = StructuredVAE("class_style", classes={"kind": tree}, steps=3, cross_fit=0, **QUIET).fit(
        x, kind=labels
    )
    vae.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    assert np.allclose(again.predict_proba(x, depth=1), vae.predict_proba(x, depth=1))


def test_intervals_teach_a_number():
    x, _ = items()
    y = 2 * x[:, 0]
    labels = [
        (None, 4.0) if value < 4 else (4.0, None) if row % 2 else float(value) for row, value in enumerate(y)
    ]
    settings = {"steps": 150, "cross_fit": 0, "learning_rate": 0.01, "kinds": {"size": "interval"}, **QUIET}
    vae = StructuredVAE("class_style", **settings).fit(x, size=labels)
    assert np.corrcoef(vae.predict(x), y)[0, 1] > 0.8
    with pytest.raises(SpecError, match="intervals, which an ensemble does not take"):
        StructuredVAE("ensemble", **settings).fit(x, size=labels)
